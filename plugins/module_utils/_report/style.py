# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The style sheet of the report, from 360 pixels to paper, and its script.

The sheet begins with the colours, light and dark: one for each outcome and each phase. Text has a contrast of at least
4.5 to 1. The page works without the script, which opens the step that a link leads to, and all steps at once.
"""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #faf9f6; --card: #fff; --ink: #1c2126; --soft: #5a626c; --line: #e5e2db; --code: #f4f2ec; --link: #1f5fa8;
  --succeeded: #1b7445; --ready: #0c6f69; --skipped: #5a626c; --failed: #b3261e;
  --timed_out: #955200; --cancelled: #5a626c; --lost: #8a2b6c; --running: #1f5fa8;
  --queued: #b58a35; --pulling: #8a7fc7; --active: #23808f; --finishing: #71818f; --track: #f1eee8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #131618; --card: #1a1e21; --ink: #e7e5e0; --soft: #a1a8b0; --line: #2b3035; --code: #111416;
    --link: #86b7ee;
    --succeeded: #68c592; --ready: #5fc7be; --skipped: #a1a8b0; --failed: #f28b82;
    --timed_out: #e9ab5c; --cancelled: #a1a8b0; --lost: #dd8fc2; --running: #86b7ee;
    --queued: #c79d4c; --pulling: #a399e0; --active: #43a5b5; --finishing: #8493a1; --track: #22272b;
  }
}
.succeeded { --tone: var(--succeeded); }
.ready { --tone: var(--ready); }
.skipped { --tone: var(--skipped); }
.failed { --tone: var(--failed); }
.timed_out { --tone: var(--timed_out); }
.cancelled { --tone: var(--cancelled); }
.lost { --tone: var(--lost); }
.running { --tone: var(--running); }
.queued { fill: var(--queued); background: var(--queued); }
.pulling { fill: var(--pulling); background: var(--pulling); }
.active { fill: var(--active); background: var(--active); }
.finishing { fill: var(--finishing); background: var(--finishing); }

:root {
  --sans: Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, "JetBrains Mono", "Cascadia Code", Menlo, Consolas, monospace;
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
body {
  margin: 0; background: var(--paper); color: var(--ink); font: 400 15px/1.55 var(--sans); overflow-wrap: anywhere;
  font-variant-numeric: tabular-nums; font-variant-ligatures: no-contextual; text-rendering: optimizeLegibility;
}
body::before { content: ""; display: block; height: 4px; background: var(--tone); }
main, footer { max-width: 1120px; margin: 0 auto; padding: 0 clamp(16px, 4vw, 40px); }
h1, h2, h3, p, dl, dd, ol, ul, figure, pre { margin: 0; padding: 0; }
h1, h2, h3 { line-height: 1.2; font-weight: 650; letter-spacing: -.015em; text-wrap: balance; }
ol, ul { list-style: none; }
a {
  color: var(--link); text-decoration-color: color-mix(in srgb, var(--link) 35%, transparent);
  text-underline-offset: 3px;
}
a:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 4px; }
code, pre, .mono { font-family: var(--mono); font-size: .87em; font-variant-ligatures: none; }
.soft { color: var(--soft); }
small { font-size: .82rem; }
.icon { width: 1.05em; height: 1.05em; flex: none; vertical-align: -.16em; color: var(--tone, currentColor); }
.defs { position: absolute; width: 0; height: 0; }

/* Outcome */
.outcome { color: var(--tone); font-weight: 600; white-space: nowrap; }
.outcome .icon { margin-right: .4em; }
.pill {
  padding: .2em .75em .2em .55em; border-radius: 99px; background: color-mix(in srgb, var(--tone) 11%, transparent);
}

/* Top of the page */
.top { padding: clamp(28px, 5vw, 56px) 0 0; }
.top h1 { font-size: clamp(2rem, 1.5rem + 2.4vw, 3rem); letter-spacing: -.03em; }
.title { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin-top: .35rem; }
.lede { margin-top: .6rem; font-size: 1.1rem; color: var(--soft); max-width: 60ch; text-wrap: pretty; }
.facts {
  display: flex; flex-wrap: wrap; gap: .9rem clamp(1.5rem, 4vw, 3.25rem); margin-top: 1.75rem; padding: 1.1rem 0;
  border-block: 1px solid var(--line);
}
dt, .eyebrow, th, .legend dt { font-size: .78rem; font-weight: 500; color: var(--soft); }
.facts dd { font-size: 1rem; font-weight: 550; }
.facts dd small { font-weight: 400; color: var(--soft); }

/* One cluster */
section { margin-top: clamp(32px, 5vw, 52px); }
.head { display: flex; flex-wrap: wrap; gap: .25rem .9rem; align-items: center; margin-bottom: .9rem; }
.head h2 { font-size: 1.35rem; }
.head p { flex-basis: 100%; font-size: .9rem; color: var(--soft); }
h3 { font-size: 1rem; margin: 2rem 0 .7rem; }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: clamp(14px, 2.4vw, 22px);
}

/* What went wrong */
.problem { border-left: 4px solid var(--tone); margin-top: 1rem; }
.problem h2 { display: flex; flex-wrap: wrap; gap: .3rem .6rem; align-items: baseline; font-size: 1.15rem; }
.problem h2 .icon { align-self: center; }
.problem h2 + p { font-size: 1.02rem; margin-top: .5rem; max-width: 92ch; text-wrap: pretty; }
.problem .remedy { margin-top: .55rem; max-width: 92ch; }
.problem .remedy b { font-weight: 650; }
.tag {
  font: 500 .8rem/1.5 var(--mono); padding: .05em .55em; border-radius: 6px; color: var(--tone);
  background: color-mix(in srgb, var(--tone) 10%, transparent);
}
.log { margin-top: .8rem; }
.log figcaption { font-size: .82rem; color: var(--soft); margin-bottom: .35rem; }
pre {
  background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; overflow: auto;
  max-height: 28rem; font-size: .8rem; line-height: 1.6; tab-size: 4; overflow-wrap: normal;
}

/* Timeline */
.timeline { position: relative; --name: 172px; --time: 104px; }
.grid { position: absolute; top: 0; bottom: 22px; left: var(--name); right: var(--time); }
.grid svg, .axis svg { display: block; width: 100%; height: 100%; overflow: visible; }
.grid line { stroke: var(--line); }
.row {
  position: relative; display: grid; grid-template-columns: var(--name) 1fr var(--time); align-items: start;
  padding: .55rem 0;
}
.row-name { display: flex; gap: .5em; padding-right: 1rem; min-width: 0; line-height: 20px; }
.row-name .icon { margin-top: 2px; }
.row-name a { color: inherit; font-weight: 600; text-decoration: none; }
.row-name a:hover { text-decoration: underline; }
.row-time { text-align: right; font-weight: 550; line-height: 20px; white-space: nowrap; }
.bars { display: block; width: 100%; height: 20px; overflow: visible; }
.phases {
  display: flex; flex-wrap: wrap; gap: 0 1em; margin-top: .3rem; font-size: .8rem; color: var(--soft);
  margin-left: max(0px, min(var(--from), 100% - 29rem));
}
.phases li { display: inline-flex; gap: .4em; align-items: center; white-space: nowrap; background: var(--card); }
.phases b { font-weight: 550; color: var(--ink); }
.note { font-size: .85rem; color: var(--soft); background: var(--card); line-height: 20px; }
.axis { display: grid; grid-template-columns: var(--name) 1fr var(--time); height: 22px; }
.axis text { font: 11.5px var(--sans); fill: var(--soft); }
.track { fill: var(--track); }
.end { fill: var(--tone); }
.bars rect { stroke: var(--card); stroke-width: 1px; }
.bars .hatch { fill: url(#hatch); stroke: none; }
.swatch { width: .7em; height: .7em; border-radius: 2.5px; flex: none; }
.legend {
  display: flex; flex-wrap: wrap; gap: .35rem 1.5rem; margin-top: .9rem; padding-top: .9rem;
  border-top: 1px solid var(--line);
}
.legend div { display: inline-flex; gap: .5em; align-items: baseline; font-size: .8rem; }
.legend dt { display: inline-flex; gap: .45em; align-items: baseline; color: var(--ink); font-size: inherit; }
.legend dd { color: var(--soft); }

/* Tables */
.sheet { padding: 0; overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; padding: .6rem .8rem; vertical-align: baseline; border-top: 1px solid var(--line); }
thead th { border-top: 0; white-space: nowrap; }
td, th { overflow-wrap: break-word; }
td.full { overflow-wrap: anywhere; }
tbody th { font-size: inherit; font-weight: 600; color: inherit; }
tr > :first-child { padding-left: 1.2rem; }
tr > :last-child { padding-right: 1.2rem; }
tbody th a { color: inherit; }
td small, th small { display: block; color: var(--soft); font-weight: 400; }
td small { white-space: nowrap; }
.num { text-align: right; white-space: nowrap; }
.ask { padding-right: 1.2em; }
.held { font-weight: 550; display: inline-block; min-width: 9em; }
tfoot th, tfoot td { font-weight: 650; color: var(--ink); font-size: .9rem; }
.say { padding: .7rem 1.2rem; font-size: .82rem; color: var(--soft); border-top: 1px solid var(--line); }

/* Evidence */
details.step { border-top: 1px solid var(--line); }
details.step:first-child { border-top: 0; }
summary { cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::before {
  content: ""; flex: none; width: .42em; height: .42em; margin: .1em .35em 0 .1em; border: solid var(--soft);
  border-width: 0 1.5px 1.5px 0; transform: rotate(-45deg); transition: transform .12s;
}
details[open] > summary::before { transform: rotate(45deg); }
.step > summary { display: flex; flex-wrap: wrap; gap: .2rem .7rem; align-items: center; padding: .85rem 1.2rem; }
.step > summary b { font-weight: 600; }
.step > summary .soft { font-size: .86rem; }
.step > summary .row-time { margin-left: auto; }
.inside { padding: .1rem 1.2rem 1.4rem; }
.inside > * + * { margin-top: 1.1rem; }
.inside h4 { margin: 0 0 .45rem; font-size: .82rem; font-weight: 600; color: var(--soft); }
.inside .sheet { border-radius: 8px; }
.facts.small { margin-top: 1.1rem; padding: 0; border: 0; gap: .7rem 2rem; }
.inside > :first-child { margin-top: 0; }
.bad { color: var(--failed); font-weight: 600; }
.facts.small dd { font-size: .88rem; font-weight: 400; }
.files { display: flex; flex-wrap: wrap; gap: .4rem .5rem; }
.files a {
  display: block; font: .8rem/1.5 var(--mono); padding: .15em .65em; border: 1px solid var(--line);
  border-radius: 6px; text-decoration: none;
}
.files a:hover { border-color: currentColor; }
.tail > summary { display: flex; align-items: center; gap: .35em; font-size: .88rem; }
.tail > pre { margin-top: .6rem; }
.warning { display: flex; gap: .5em; font-size: .9rem; }
.warning .icon { color: var(--timed_out); margin-top: .25em; }

/* The rest */
footer { margin-top: 3rem; padding-bottom: 2.5rem; font-size: .8rem; color: var(--soft); }
.toggle {
  margin-left: auto; font: inherit; font-size: .82rem; color: var(--link); background: none; border: 0; padding: 0;
  cursor: pointer;
}
.with-toggle { display: flex; align-items: baseline; }
.visually-hidden {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}

/* Narrower, on paper, at rest */
@media (max-width: 1000px) {
  .ask, .held { display: block; padding: 0; min-width: 0; }
}
@media (max-width: 800px) {
  .timeline { --name: 0px; --time: 0px; }
  .row { grid-template-columns: 1fr auto; row-gap: .35rem; padding: .7rem 0; }
  .row-track { grid-column: 1 / -1; grid-row: 2; }
  .axis { grid-template-columns: 0 1fr 0; }
  .odd { display: none; }
  .facts { gap: .9rem 2rem; }
  .phases { margin: 0; }
  .stack thead { position: absolute; clip-path: inset(50%); }
  .stack, .stack tbody, .stack tfoot { display: block; }
  .stack tr {
    display: grid; grid-template-columns: 1fr 1fr; gap: .5rem 1rem; padding: .9rem 1.2rem;
    border-top: 1px solid var(--line);
  }
  .stack tbody tr:first-child { border-top: 0; }
  .stack th, .stack td, .stack tr > * { display: block; padding: 0; border: 0; min-width: 0; text-align: left; }
  .stack.three tr { grid-template-columns: auto 1fr auto; }
  .stack .full { grid-column: 1 / -1; }
  .stack .two { grid-column: 2 / -1; justify-self: end; }
  .stack td[data-label]::before {
    content: attr(data-label); display: block; font-size: .76rem; font-weight: 400; color: var(--soft);
  }
  .stack.use tbody th, .stack.use tfoot th { grid-column: 1 / -1; }
  .held .soft { white-space: nowrap; }
  .stack td, .stack th { overflow-wrap: anywhere; white-space: normal; }
  .step > summary .soft { order: 1; flex-basis: 100%; padding-left: 2.9em; margin-top: -.25rem; }
}
@media print {
  :root { --paper: #fff; --code: #fff; color-scheme: light; }
  body { font-size: 10pt; }
  .row, .problem, tr, figure.card { break-inside: avoid; }
  h2, h3, .head { break-after: avoid; }
  pre { max-height: none; white-space: pre-wrap; overflow-wrap: anywhere; }
  .toggle { display: none; }
  details::details-content { content-visibility: visible; height: auto; }
  * { print-color-adjust: exact; }
}
@media (prefers-reduced-motion: reduce) {
  * { transition: none !important; }
}
"""

SCRIPT = """
const all = [...document.querySelectorAll('details.step')];
const reveal = () => {
  const step = document.getElementById(location.hash.slice(1))?.closest('details.step');
  if (step) { step.open = true; step.scrollIntoView(); }
};
addEventListener('hashchange', reveal);
reveal();
document.querySelectorAll('.with-toggle').forEach((heading) => {
  const steps = all.filter((step) => heading.parentElement.contains(step));
  const button = Object.assign(document.createElement('button'), {type: 'button', className: 'toggle'});
  const label = () => { button.textContent = steps.every((step) => step.open) ? 'Collapse all' : 'Expand all'; };
  button.onclick = () => {
    const open = !steps.every((step) => step.open);
    steps.forEach((step) => { step.open = open; });
    label();
  };
  steps.forEach((step) => step.addEventListener('toggle', label));
  heading.append(button);
  label();
});
"""
