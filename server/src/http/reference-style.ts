/**
 * The reference page's only styles. The page's policy contains their hash, so no attribute can add others.
 */
export const referenceStyle = `
:root {
  color-scheme: light dark;
  --page: #fff; --text: #1a212b; --muted: #566170; --line: #dde2e9; --surface: #f5f7f9;
  --link: #0a58a8; --key: #0f5f6b;
  --get: #0a58a8; --get-bg: #e6f0fb; --post: #14663b; --post-bg: #e4f4ea;
  --other: #8a4b08; --other-bg: #fbf0e0; --bad: #a32626; --bad-bg: #fcebea;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #10141a; --text: #e3e8ee; --muted: #9ba7b6; --line: #2b343f; --surface: #181e26;
    --link: #84bbf7; --key: #7fd0d6;
    --get: #93c5fb; --get-bg: #17304d; --post: #86d9a8; --post-bg: #14382a;
    --other: #f0bd7c; --other-bg: #3d2b14; --bad: #f5a3a0; --bad-bg: #451f1f;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere;
  font: 1rem/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif; }
a { color: var(--link); text-underline-offset: 0.15em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
main:focus { outline: none; }
h1, h2, h3, h4 { line-height: 1.3; margin: 0; }
h1 { font-size: 1.75rem; letter-spacing: -0.01em; }
h2 { font-size: 1.375rem; letter-spacing: -0.01em; }
h3 { font-size: 1.125rem; }
h4 { font-size: 0.9375rem; margin: 1.75rem 0 0.5rem; }
p { margin: 0.6rem 0; max-width: 70ch; }
code, pre { font-family: var(--mono); font-size: 0.875em; }
pre { margin: 0; padding: 0.875rem 1rem; background: var(--surface); border: 1px solid var(--line);
  border-radius: 6px; font-size: 0.8125rem; line-height: 1.55; white-space: pre-wrap; }
pre code { font-size: inherit; }
.key { color: var(--key); }
.muted { color: var(--muted); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
.skip { position: absolute; left: 1rem; top: -4rem; z-index: 1; padding: 0.5rem 0.875rem;
  background: var(--page); border: 1px solid var(--line); border-radius: 6px; }
.skip:focus { top: 0.5rem; }

body > header, main, body > nav, body > footer { padding: 0 1rem; }
body > header { padding-top: 1.75rem; padding-bottom: 1.25rem; border-bottom: 1px solid var(--line); }
.version { margin-left: 0.4rem; font-size: 0.875rem; font-weight: 400; color: var(--muted); }
.facts { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; margin: 0.6rem 0 0; padding: 0;
  list-style: none; font-size: 0.9375rem; }
body > nav { padding-top: 1.25rem; padding-bottom: 1.25rem; border-bottom: 1px solid var(--line); }
nav p { margin: 1.1rem 0 0.25rem; font-size: 0.8125rem; font-weight: 600; color: var(--muted); }
nav ul { margin: 0; padding: 0; list-style: none; }
nav a { display: flex; gap: 0.4rem; align-items: baseline; padding: 0.25rem 0.5rem;
  margin: 0 -0.5rem; border-radius: 4px; color: var(--text); text-decoration: none;
  font-size: 0.875rem; }
nav a:hover { background: var(--surface); text-decoration: underline; }
nav .method { flex: none; width: 2.4rem; background: none; padding: 0; text-align: left; }
nav code { font-size: 0.78rem; }
main > section { padding: 2rem 0; border-bottom: 1px solid var(--line); }
main > section:last-child { border-bottom: 0; }
section, article, tr { scroll-margin-top: 1rem; }
body > footer { padding-top: 1.25rem; padding-bottom: 2.5rem; border-top: 1px solid var(--line);
  color: var(--muted); font-size: 0.875rem; }

article { padding-top: 1.75rem; }
article + article { margin-top: 2.25rem; border-top: 1px solid var(--line); }
article:target h3, tr:target th { background: var(--other-bg); box-shadow: 0 0 0 4px var(--other-bg); }
.route { display: flex; flex-wrap: wrap; gap: 0.35rem 0.6rem; align-items: center; margin: 0.6rem 0; }
.route code { font-size: 0.9375rem; }
.method, .status { padding: 0.1rem 0.45rem; border-radius: 4px; font: 600 0.75rem/1.5 var(--mono);
  color: var(--other); background: var(--other-bg); }
.get { color: var(--get); background: var(--get-bg); }
.post, .good { color: var(--post); background: var(--post-bg); }
.delete, .bad { color: var(--bad); background: var(--bad-bg); }

.shape { display: grid; gap: 1rem; align-items: start; }
.shape > *, .example { min-width: 0; }
.example p { margin: 0 0 0.35rem; font-size: 0.8125rem; color: var(--muted); }
table { width: 100%; border-collapse: collapse; font-size: 0.875rem; line-height: 1.5; }
th, td { padding: 0.5rem 0.75rem 0.5rem 0; text-align: left; vertical-align: baseline;
  border-bottom: 1px solid var(--line); }
tbody tr:last-child > * { border-bottom: 0; }
th { font-weight: 600; }
tbody th { font-weight: 500; }
thead th { font-size: 0.8125rem; color: var(--muted); }
tbody th code { font-size: 0.8125rem; }
.errors thead th, .errors td:first-child { white-space: nowrap; }
td.type, td.need, .pattern { color: var(--muted); }
td.rule { width: 52%; }
tr.form td { padding-top: 1.1rem; font-weight: 600; }
.pattern { display: block; font-size: 0.8125rem; }

details { margin: 0.5rem 0; border: 1px solid var(--line); border-radius: 6px; }
summary { padding: 0.55rem 0.875rem; cursor: pointer; font-size: 0.9375rem; border-radius: 6px; }
summary:hover { background: var(--surface); }
details[open] > summary { border-bottom: 1px solid var(--line); border-radius: 6px 6px 0 0; }
.inside { padding: 0.5rem 0.875rem 0.875rem; }

.snippet { position: relative; }
.snippet button { position: absolute; top: 0.4rem; right: 0.4rem; padding: 0.2rem 0.6rem;
  font: 0.8125rem/1.5 inherit; color: var(--link); background: var(--page);
  border: 1px solid var(--line); border-radius: 4px; cursor: pointer; }
nav label { display: grid; gap: 0.25rem; font-size: 0.8125rem; font-weight: 600; color: var(--muted); }
nav input { width: 100%; padding: 0.4rem 0.6rem; font: 0.9375rem/1.5 inherit; color: var(--text);
  background: var(--page); border: 1px solid var(--muted); border-radius: 6px; }
nav [role=status] { min-height: 1.3rem; margin: 0.25rem 0 0.5rem; font-weight: 400; }
[hidden] { display: none; }
.tabs { display: flex; flex-wrap: wrap; gap: 0.4rem; margin: 0.75rem 0 0; padding: 0; border: 0; min-width: 0; }
.tabs input { position: absolute; opacity: 0; }
.tabs label { order: 0; padding: 0.2rem 0.7rem; border: 1px solid var(--line); border-radius: 4px;
  font-size: 0.875rem; cursor: pointer; }
.tabs input:checked + label { color: var(--page); background: var(--link); border-color: var(--link); }
.tabs input:focus-visible + label { outline: 2px solid var(--link); outline-offset: 2px; }
.tab { display: none; order: 1; flex: 1 0 100%; min-width: 0; }
.tabs input:checked + label + .tab { display: block; }

@media (max-width: 40rem) {
  table.fields, table.fields tbody { display: block; }
  table.fields thead { position: absolute; width: 1px; height: 1px; overflow: hidden;
    clip-path: inset(50%); }
  table.fields tr { display: flex; flex-wrap: wrap; gap: 0 0.75rem; align-items: baseline;
    padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
  table.fields th, table.fields td { padding: 0; border: 0; }
  table.fields td.rule { flex: 1 0 100%; min-width: 0; }
  table.fields td.rule:empty { display: none; }
  tr.d1 { margin-left: 0.875rem; } tr.d2 { margin-left: 1.75rem; } tr.d3 { margin-left: 2.625rem; }
  tr.d4 { margin-left: 3.5rem; }
}
@media (min-width: 40.01rem) {
  table { overflow-wrap: break-word; }
  .pattern { overflow-wrap: anywhere; }
  thead th, tbody th, td.need { white-space: nowrap; }
  tr.d1 th, tr.d1.form td { padding-left: 1.1rem; } tr.d2 th, tr.d2.form td { padding-left: 2.2rem; }
  tr.d3 th, tr.d3.form td { padding-left: 3.3rem; } tr.d4 th, tr.d4.form td { padding-left: 4.4rem; }
}
@media (min-width: 60rem) {
  body { display: grid; grid-template: auto 1fr auto / 20rem minmax(0, 1fr); }
  body > header, body > footer { grid-column: 2; padding-left: 2.5rem; padding-right: 2.5rem; }
  body > nav { grid-column: 1; grid-row: 1 / 4; position: sticky; top: 0; height: 100vh;
    overflow-y: auto; padding: 1.25rem; border-right: 1px solid var(--line); border-bottom: 0; }
  main { padding: 0 2.5rem; }
  main, body > header > *, body > footer > * { max-width: 76rem; }
}
@media (min-width: 88rem) {
  .shape { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 2rem; }
  .shape > .example { position: sticky; top: 1rem; }
}
`
