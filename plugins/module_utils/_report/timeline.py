# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Template of a cluster's timeline: one row for each step, one bar for each phase, on the time scale of the run."""

from __future__ import annotations

TIMELINE = r"""
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
        {{- mark(tick.seconds) -}}
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
<svg class="bars" role="img" aria-label="{{ step.name }}: {{ said(bars) }}">
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
