# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The Jinja template of the report (autoescaped): macros from small to large, then the page that calls them.

The templates are Python strings because AnsiballZ ships only the `.py` files of module_utils to a module.
"""

from __future__ import annotations

_PARTS = r"""
{% macro icon(name) %}<svg class="icon" aria-hidden="true"><use href="#i-{{ name }}"/></svg>{% endmacro %}

{% macro outcome(name, pill=false) -%}
<span class="outcome {{ name }} {{ 'pill' if pill }}">{{ icon(icons[name]) }}{{ outcomes[name] }}</span>
{%- endmacro %}

{% macro when(moment) -%}
{% if moment %}<time datetime="{{ moment.isoformat() }}">{{ date(moment) }}</time>{% else %}unknown{% endif %}
{%- endmacro %}

{% macro amount(pair) -%}
<span class="held">{{ pair.number }} <span class="soft">{{ pair.unit }}</span></span>
{%- endmacro %}

{% macro took(step) -%}
{{ '–' if step.outcome == 'skipped' else duration(elapsed(step.started, step.finished)) }}
{%- endmacro %}

{% macro log(lines, label) -%}
<pre tabindex="0" aria-label="{{ label }}">{{ lines | join('\n') }}</pre>
{%- endmacro %}

{% macro skipped(step) -%}
{% set because = with_dates(step.skipped_because) or 'skipped' %}
{% if step.skipped_report %}<a href="{{ link(step.skipped_report) }}">{{ because }}</a>
{%- else %}{{ because }}{% endif %}
{%- endmacro %}

{% macro problem(place, step, cluster) %}
<article class="card problem {{ step.outcome }}" aria-labelledby="{{ place }}-problem">
  <h2 id="{{ place }}-problem">{{ icon(icons[step.outcome]) }}
    <span><a href="#{{ place }}">{{ step.name }}</a> {{ verbs[step.outcome] }} on {{ cluster.name }}</span>
    {% if step.cause and step.cause.reason %}<span class="tag">{{ step.cause.reason }}</span>{% endif %}
  </h2>
  {% if step.cause %}{{ cause(step.cause) }}
  {% elif step.outcome == 'running' %}
  <p>No end was recorded: the step was still running when this report was written, or its controller was
    interrupted.</p>
  <p class="remedy"><b>What to do:</b> Run the same command again; it re-attaches to the workload and completes the
    record.</p>
  {% else %}
  <p>No cause was recorded. See the evidence below.</p>
  {% endif %}
</article>
{% endmacro %}

{% macro cause(one) %}
<p>{{ one.message }}</p>
{% if one.remedy %}<p class="remedy"><b>What to do:</b> {{ one.remedy }}</p>{% endif %}
{% if one.log_tail %}
<figure class="log">
  <figcaption>Last lines of {{ [one.object, one.container] | select | join(', container ') or 'the log' }}
    {%- if one.log %} · <a href="{{ link(one.log) }}">whole log</a>{% endif %}</figcaption>
  {{ log(one.log_tail, 'Log of the container that caused it') }}
</figure>
{% endif %}
{% endmacro %}
"""

# A cluster's timeline: one row for each step, one bar for each phase, on the time scale of the run.
_TIMELINE = r"""
{% macro timeline(place, cluster, scale) %}
<figure class="card" aria-label="Timeline of {{ cluster.name }}">
  <div class="timeline">
    <div class="grid" aria-hidden="true"><svg>
      {% for tick in ticks(scale.seconds) %}
      {% set at = per_cent(tick.left) %}
      <line x1="{{ at }}" x2="{{ at }}" y1="0" y2="100%" class="{{ loop.cycle('even', 'odd') }}"/>
      {% endfor %}
    </svg></div>
    <ol>
      {% for step in cluster.steps %}{{ timeline_row(place ~ '-' ~ loop.index, step, row(step, scale)) }}{% endfor %}
    </ol>
    <div class="axis" aria-hidden="true"><span></span><svg>
      {% for tick in ticks(scale.seconds) %}
      {% set anchor = 'start' if loop.first else 'end' if tick.left > 97 else 'middle' %}
      <text x="{{ per_cent(tick.left) }}" y="17" text-anchor="{{ anchor }}" class="{{ loop.cycle('even', 'odd') }}">
        {{- tick_label(tick.seconds) -}}
      </text>
      {% endfor %}
    </svg><span></span></div>
  </div>
  <dl class="legend">
    {% for name, meaning in phase_words.items() %}
    <div><dt><span class="swatch {{ tint(name) }}"></span>{{ name }}</dt><dd>{{ meaning }}</dd></div>
    {% endfor %}
  </dl>
</figure>
{% endmacro %}

{% macro timeline_row(place, step, bars) %}
<li class="row {{ step.outcome }}">
  <span class="row-name">{{ icon(icons[step.outcome]) }}
    <span><a href="#{{ place }}">{{ step.name }}</a>
      <span class="visually-hidden">{{ outcomes[step.outcome] }}</span></span></span>
  <div class="row-track">
    {% if bars %}{{ track(step, bars) }}
    {% elif step.outcome == 'skipped' %}<p class="note">{{ skipped(step) }}</p>
    {% else %}<p class="note">No times were recorded.</p>
    {% endif %}
  </div>
  <span class="row-time">{{ 'skipped' if step.outcome == 'skipped' else took(step) }}</span>
</li>
{% endmacro %}

{% macro bar(kind, left, width) -%}
class="{{ kind }}" x="{{ per_cent(left) }}" width="{{ per_cent(width) }}" y="2" height="16" rx="3"
{%- endmacro %}

{% macro track(step, bars) %}
<svg class="bars" role="img" aria-label="{{ step.name }}: {{ phases_text(bars) }}">
  <rect {{ bar('track', bars.whole.left, bars.whole.width) }}/>
  {% for one in bars.phases %}
  <rect {{ bar(tint(one.name), one.left, one.width) }}><title>{{ one.name }} {{ duration(one.seconds) }}</title></rect>
  {% if one.open or one.name == 'queued' %}<rect {{ bar('hatch', one.left, one.width) }}/>{% endif %}
  {% endfor %}
  {% if step.outcome not in good %}
  <rect class="end" x="{{ per_cent(bars.right) }}" width="4" y="-2" height="24" rx="2" transform="translate(-2)"/>
  {% endif %}
</svg>
<ul class="phases" style="--from: {{ per_cent(bars.whole.left) }}">
  {% for one in bars.phases %}
  <li><span class="swatch {{ tint(one.name) }}"></span>{{ one.name }}
    <b>{{ duration(one.seconds) }}{{ ' …' if one.open }}</b></li>
  {% endfor %}
</ul>
{% endmacro %}
"""

# The steps: their table, resources, attempts, pods and files.
_STEPS = r"""
{% macro head(titles) %}
<thead><tr>
  {% for title, numbers in titles %}<th scope="col" class="{{ 'num' if numbers }}">{{ title }}</th>{% endfor %}
</tr></thead>
{% endmacro %}

{% macro steps(place, cluster) %}
<div class="card sheet"><table class="stack three">
  <caption class="visually-hidden">Steps on {{ cluster.name }}</caption>
  {{ head([('Step', 0), ('Outcome', 0), ('Workload', 0), ('Chart', 0), ('Attempt', 1), ('Identity', 0),
    ('Duration', 1)]) }}
  <tbody>
    {% for step in cluster.steps %}
    <tr>
      <th scope="row"><a href="#{{ place }}-{{ loop.index }}">{{ step.name }}</a></th>
      <td class="two">{{ outcome(step.outcome) }}</td>
      <td class="full" data-label="Workload">{{ step.workload or '–' }}</td>
      <td class="full" data-label="Chart">{{ step.chart or '–' }}
        <span class="soft">{{ step.chart_version }}</span></td>
      <td class="num" data-label="Attempt">{{ step.attempt }}
        {% if step.reattached %}<small>re-attached</small>{% endif %}</td>
      <td data-label="Identity"><code title="{{ step.identity }}">{{ step.identity[:12] or '–' }}</code></td>
      <td class="num" data-label="Duration">{{ took(step) }}</td>
    </tr>
    {% endfor %}
  </tbody>
</table></div>
{% endmacro %}

{% macro use(cluster, names) %}
<h3>Resources requested</h3>
<div class="card sheet"><table class="stack use">
  <caption class="visually-hidden">Resources requested by the steps on {{ cluster.name }}</caption>
  {{ head([('Step', 0)] + resource_titles(names)) }}
  <tbody>
    {% for step in cluster.steps if step.resources %}
    <tr>
      <th scope="row">{{ step.name }}</th>
      {% for name in names %}
      {% set one = step.resources.get(name) %}
      <td class="num" data-label="{{ resource_title(name) }}">
        {% if one %}
        <span class="soft ask">{{ requested(name, one.requested) | join(' ') }}</span>
        {{ amount(reserved(name, one.seconds)) }}
        {% else %}–{% endif %}
      </td>
      {% endfor %}
    </tr>
    {% endfor %}
  </tbody>
  <tfoot><tr>
    <th scope="row">All steps</th>
    {% for name in names %}
    {% set total = reserved(name, total_reserved(cluster, name)) %}
    <td class="num" data-label="{{ resource_title(name) }}">{{ amount(total) }}</td>
    {% endfor %}
  </tr></tfoot>
</table>
<p class="say">Requests of the pods, multiplied by the time they held them: what the run reserved, not what it
  used.</p></div>
{% endmacro %}

{% macro attempts(step) %}
<div><h4>Earlier attempts</h4><div class="card sheet"><table class="stack">
  {{ head([('Attempt', 0), ('Outcome', 0), ('Cause', 0), ('Started', 0), ('Duration', 1)]) }}
  <tbody>
    {% for one in step.attempts %}
    <tr>
      <th scope="row">{% if one.evidence %}<a href="{{ link(one.evidence) }}">{{ one.attempt }}</a>
        {%- else %}{{ one.attempt }}<small>{{ one.run_id }}</small>{% endif %}</th>
      <td data-label="Outcome">{{ outcome(one.outcome) }}</td>
      <td class="full" data-label="Cause">{{ [one.object, one.reason, one.message] | select | join(': ') or '–' }}</td>
      <td data-label="Started">{{ when(one.started) }}</td>
      <td class="num" data-label="Duration">{{ duration(elapsed(one.started, one.finished)) }}</td>
    </tr>
    {% endfor %}
  </tbody>
</table></div></div>
{% endmacro %}

{% macro pods(step) %}
<div><h4>Pods</h4><div class="card sheet"><table class="stack">
  {{ head([('Pod', 0), ('Role', 0), ('Node', 0), ('Phase', 0), ('Containers', 0)]) }}
  <tbody>
    {% for pod in step.pods %}
    <tr>
      <th scope="row" class="full">{{ pod.name }} <small>{{ requests_text(pod) }}</small></th>
      <td data-label="Role">{{ pod.role or '–' }}</td>
      <td data-label="Node">{{ pod.node or 'none' }}</td>
      <td class="full" data-label="Phase">{{ pod.phase or '–' }}
        {% if pod.finished %}<small>{{ duration(elapsed(pod.started, pod.finished)) }}</small>{% endif %}</td>
      <td class="full" data-label="Containers"><ul>
        {% for one in pod.containers %}<li>{{ container(one) }}</li>{% endfor %}
      </ul></td>
    </tr>
    {% endfor %}
  </tbody>
</table></div></div>
{% endmacro %}

{% macro container(one) -%}
<span title="{{ one.image }}">{{ one.name }}</span>: {{ [one.state, one.reason] | select | join(', ') }},
{% if one.exit_code is not none %}
<span class="{{ 'bad' if one.exit_code }}">{{ exit_code(one.exit_code) }}</span>, {% endif %}
{{ count(one.restarts, 'restart') }}
{%- if one.log %}, <a href="{{ link(one.log) }}">log</a>
{%+ if one.log_lines is not none %}<span class="soft">{{ count(one.log_lines, 'line') }}</span>{% endif %}
{% endif %}
{%- endmacro %}

{% macro detail(place, step) %}
<details class="step {{ step.outcome }}" id="{{ place }}"{{ ' open' if step.outcome not in good }}>
  <summary>{{ icon(icons[step.outcome]) }}<b>{{ step.name }}</b>
    <span class="soft">{{ [outcomes[step.outcome], step.workload] | select | join(' · ') }}</span>
    <span class="row-time">{{ took(step) }}</span></summary>
  <div class="inside">
    {% for warning in step.warnings %}
    <p class="warning">{{ icon('warning') }}<span>{{ warning }}</span></p>
    {% endfor %}
    {% if step.outcome == 'skipped' %}<p>Not run again: {{ skipped(step) }}.</p>{% endif %}
    <dl class="facts small">
      <div><dt>Started</dt><dd>{{ when(step.started) }}</dd></div>
      <div><dt>Finished</dt><dd>{{ when(step.finished) }}</dd></div>
      {% if step.controller %}<div><dt>Controller</dt><dd>{{ step.controller }}</dd></div>{% endif %}
      {% if step.progress %}<div><dt>Progress</dt><dd>{{ progress_text(step.progress) }}</dd></div>{% endif %}
      {% if step.restarts %}<div><dt>Restarts</dt><dd>{{ step.restarts }}</dd></div>{% endif %}
      {% if step.recipes %}<div><dt>Recipe</dt><dd><code>{{ step.recipes | join(', ') }}</code></dd></div>{% endif %}
    </dl>
    {% if step.attempts %}{{ attempts(step) }}{% endif %}
    {% if step.pods %}{{ pods(step) }}{% endif %}
    {% if step.log_tail %}
    <details class="tail"><summary>Last {{ count(step.log_tail | length, 'line') }} of the log</summary>
      {{ log(step.log_tail, 'Last lines of the log of ' ~ step.name) }}</details>
    {% endif %}
    {% if step.evidence %}
    <div><h4>Files</h4><ul class="files">
      {% for file in step.evidence %}<li><a href="{{ link(file.path) }}">{{ printable(file.name) }}</a></li>{% endfor %}
    </ul></div>
    {% endif %}
  </div>
</details>
{% endmacro %}
"""

_PAGE = r"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<title>{{ run.pipeline }}: {{ outcomes[run.outcome] | lower }} · {{ run.run_id }}</title>
<link rel="icon" href="{{ favicon }}">
<style>{{ style | safe }}</style>
</head>
<body class="{{ run.outcome }}">
{{ sprite | safe }}
<main>
<header class="top">
  <p class="eyebrow">Run report</p>
  <div class="title"><h1>{{ run.pipeline }}</h1>{{ outcome(run.outcome, pill=true) }}</div>
  <p class="lede">{{ summary(run) }}</p>
  <dl class="facts">
    <div><dt>Duration</dt><dd>{{ duration(elapsed(run.started, run.finished)) }}</dd></div>
    <div><dt>Started</dt><dd>{{ when(run.started) }}</dd></div>
    <div><dt>{{ 'Cluster' if run.clusters | length == 1 else 'Clusters' }}</dt>
      <dd>{{ run.clusters | map(attribute='name') | join(', ') or 'none' }}</dd></div>
    <div><dt>Run</dt><dd class="mono">{{ run.run_id }}</dd></div>
  </dl>
</header>
{% if problems %}
<section aria-label="What went wrong">
  {% for place, step, cluster in problems %}{{ problem(place, step, cluster) }}{% endfor %}
</section>
{% endif %}
{% for cluster in run.clusters %}
{% set place = 'c' ~ loop.index %}
{% set names = resource_names(cluster) %}
<section aria-labelledby="{{ place }}">
  <div class="head"><h2 id="{{ place }}">{{ cluster.name }}</h2>
    {% if run.clusters | length > 1 %}{{ outcome(cluster.outcome, pill=true) }}{% endif %}
    <p>{{ cluster_summary(cluster) }}</p></div>
  {% if scale %}{{ timeline(place, cluster, scale) }}{% endif %}
  <h3>Steps</h3>
  {{ steps(place, cluster) }}
  {% if names %}{{ use(cluster, names) }}{% endif %}
  <div><h3 class="with-toggle">Evidence</h3>
    <div class="card sheet">
      {% for step in cluster.steps %}{{ detail(place ~ '-' ~ loop.index, step) }}{% endfor %}
    </div></div>
</section>
{% endfor %}
</main>
<footer><p>Written by mlops.eks from the records beside this page; times are UTC. The same facts for programs:
  <a href="run.json">run.json</a>.</p></footer>
<script>{{ script | safe }}</script>
</body>
</html>
"""

# Jinja runs the page last: a macro must be defined before it is called.
PAGE = _PARTS + _TIMELINE + _STEPS + _PAGE
