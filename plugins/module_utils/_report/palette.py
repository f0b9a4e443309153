# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The colours of the report: light and dark, one for each outcome and each phase. Text keeps a contrast of 4.5 to 1."""

from __future__ import annotations

PALETTE = """
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
"""
