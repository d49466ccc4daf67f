"""The style sheet of the report: light and dark, no font from elsewhere, wide and narrow."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark; --page: #f6f7f9; --card: #fff; --ink: #1a2230; --soft: #5a6678;
  --line: #e2e6ec; --c1: #3b74d8; --c2: #7a5bd0; --c3: #168f8a; --good: #2f9150; --warn: #c98a14;
  --bad: #cf4238; --mute: #a8b1bd;
  --t1: #d4e2fb; --t2: #e2dafa; --t3: #cdebe9; --tgood: #cfecd8; --twarn: #fbe6bd; --tbad: #fad3cf;
  --tmute: #e6e9ee; }
@media (prefers-color-scheme: dark) { :root { --page: #12161d; --card: #1b212b; --ink: #e8ecf2; --soft: #9aa7b8;
  --line: #2d3542; --c1: #6c9df0; --c2: #a48bf0; --c3: #45bdb6; --good: #5cc07d; --warn: #e2ad4a; --bad: #ee7a70;
  --mute: #5d6878; --t1: #27406d; --t2: #433672; --t3: #1c514f; --tgood: #22502f; --twarn: #59431a;
  --tbad: #672c29; --tmute: #333c49; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 36px 20px 60px; }
h1 { font-size: 30px; line-height: 1.2; letter-spacing: -.015em; margin: 0 0 6px; }
h2 { font-size: 17px; line-height: 1.3; margin: 0 0 2px; }
p { margin: 0 0 12px; }
.soft, figcaption p, .none { color: var(--soft); font-size: 14px; }
.tiles { display: grid; gap: 14px; grid-template-columns: repeat(4, 1fr); margin: 24px 0 14px; padding: 0;
  list-style: none; }
.tiles li, figure { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.tiles li { padding: 14px 16px 12px; }
.tiles b { display: block; font-size: 27px; line-height: 1.2; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: 13px; line-height: 1.35; display: block; }
.cards { display: grid; gap: 14px; grid-template-columns: 1fr 1fr; }
figure { margin: 0; padding: 18px 20px 16px; min-width: 0; }
figure.whole { grid-column: 1 / -1; }
@media (max-width: 860px) { figure { grid-column: 1 / -1; }
  .tiles { grid-template-columns: 1fr 1fr; } main { padding: 24px 14px 40px; } h1 { font-size: 25px; }
  figure { padding: 15px 15px 13px; } }
figcaption { margin-bottom: 10px; }
svg { display: block; overflow: visible; font-size: 13.5px; }
svg text { fill: var(--ink); }
svg .figure { font-variant-numeric: tabular-nums; }
svg .small { font-size: 11px; fill: var(--soft); }
.tint .c1 { fill: var(--t1); } .tint .c2 { fill: var(--t2); } .tint .c3 { fill: var(--t3); }
.tint .good { fill: var(--tgood); } .tint .warn { fill: var(--twarn); } .tint .bad { fill: var(--tbad); }
.tint .mute { fill: var(--tmute); }
.solid .c1 { fill: var(--c1); } .solid .c2 { fill: var(--c2); } .solid .c3 { fill: var(--c3); }
.solid .good { fill: var(--good); } .solid .warn { fill: var(--warn); } .solid .bad { fill: var(--bad); }
.solid .mute { fill: var(--mute); } .solid .faint { fill: var(--line); }
.key { display: flex; flex-wrap: wrap; gap: 4px 18px; list-style: none; margin: 10px 0 0; padding: 0;
  font-size: 13.5px; }
.key i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; }
.key b { font-variant-numeric: tabular-nums; font-weight: 600; }
i.c1 { background: var(--c1); } i.c2 { background: var(--c2); } i.c3 { background: var(--c3); }
i.good { background: var(--good); } i.warn { background: var(--warn); } i.bad { background: var(--bad); }
i.mute { background: var(--mute); } i.faint { background: var(--line); }
.tinted i.bad { background: var(--tbad); } .tinted i.warn { background: var(--twarn); }
.tinted i.c1 { background: var(--t1); } .tinted i.mute { background: var(--tmute); }
details { margin-top: 12px; font-size: 13.5px; }
summary { color: var(--soft); cursor: pointer; }
.scroll { overflow: auto; max-height: 460px; margin-top: 6px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 4px 14px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td { overflow-wrap: anywhere; }
th { font-weight: 600; color: var(--soft); white-space: nowrap; }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
footer { margin-top: 26px; color: var(--soft); font-size: 13px; }
@media (max-width: 480px) { svg { font-size: 12px; } svg .small { font-size: 10px; } }
@media print { body { background: #fff; } figure, .tiles li { break-inside: avoid; } }
"""
