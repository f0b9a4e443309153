# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Template of what is known of the steps: the table, the resources, the pods, the files."""

from __future__ import annotations

STEPS = r"""
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
        {{ amount(held(name, one.seconds)) }}
        {% else %}–{% endif %}
      </td>
      {% endfor %}
    </tr>
    {% endfor %}
  </tbody>
  <tfoot><tr>
    <th scope="row">All steps</th>
    {% for name in names %}
    <td class="num" data-label="{{ resource_title(name) }}">{{ amount(held(name, total_held(cluster, name))) }}</td>
    {% endfor %}
  </tr></tfoot>
</table>
<p class="say">What the pods asked for, times how long they held it: what the run reserved, not what it was
  measured to use.</p></div>
{% endmacro %}

{% macro attempts(step) %}
<div><h4>Earlier attempts</h4><div class="card sheet"><table class="stack">
  {{ head([('Attempt', 0), ('Outcome', 0), ('Cause', 0), ('Started', 0), ('Duration', 1)]) }}
  <tbody>
    {% for one in step.attempts %}
    <tr>
      <th scope="row">{% if one.evidence %}<a href="{{ link(one.evidence) }}">{{ one.number }}</a>
        {%- else %}{{ one.number }}<small>{{ one.run }}</small>{% endif %}</th>
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
      <th scope="row" class="full">{{ pod.name }} <small>{{ asked(pod) }}</small></th>
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
{% if one.exit_code is not none %}<span class="{{ 'bad' if one.exit_code }}">{{ exit_code(one) }}</span>, {% endif %}
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
      {% if step.progress %}<div><dt>Progress</dt><dd>{{ reached(step.progress) }}</dd></div>{% endif %}
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
