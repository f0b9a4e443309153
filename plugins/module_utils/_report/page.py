# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Template of the page (Jinja, autoescaped): what stands where.

How it looks is in `style`, what it says in `words`, the timeline and the steps in files of their own.
"""

from __future__ import annotations

PARTS = r"""
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
{% set because = told(step.skipped_because) or 'skipped' %}
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
  <p>No cause was recorded; the evidence below may tell.</p>
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

PAGE = r"""<!DOCTYPE html>
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
  <p class="lede">{{ lede(run) }}</p>
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
    <p>{{ progress(cluster) }}</p></div>
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
