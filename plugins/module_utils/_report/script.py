# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The few lines of script the page can do without: links open the step they lead to, all steps open at once."""

from __future__ import annotations

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
