import { colourProperties, printedFills } from './colours.ts'

/** The style sheet of the page: light and dark, phone and print. */
export const style = `
:root { color-scheme: light dark; ${colourProperties}
  --paper: #fcfcfa; --ink: #1d1f21; --soft: #5f646a; --rule: #dededa; --heat: #07578a; --on-heat: #fff; --cover: #66809a;
  --unknown: #b3b3ad; --pattern: #ffffffb0; --halo: #ffffffc0; --on-guild: #000; --link: #07578a }
@media screen and (prefers-color-scheme: dark) { :root {
  --paper: #16181b; --ink: #e4e4df; --soft: #a2a7ad; --rule: #34373b; --heat: #7cc4f2; --on-heat: #0c1116; --cover: #7f99b3;
  --unknown: #5c6066; --pattern: #00000090; --halo: #ffffff90; --link: #8fc9f0 } }
* { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0 auto; max-width: 1000px; padding: 28px 20px 60px; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif; overflow-wrap: anywhere }
h1, h3 { overflow-wrap: break-word } h1 { font-size: 30px; line-height: 1.15; margin: 0 0 6px; letter-spacing: -0.02em }
h2 { font-size: 13px; margin: 56px 0 0; padding-top: 12px; border-top: 2px solid var(--ink); text-transform: uppercase;
  letter-spacing: 0.08em }
#guild h2 { text-transform: none; letter-spacing: 0; font-size: 16px }
h3 { font-size: 20px; line-height: 1.3; margin: 0; letter-spacing: -0.01em; text-wrap: balance }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 2px }
p { margin: 0 } .soft, .lead, .note { color: var(--soft) } .lead { max-width: 68ch; font-size: 15px }
.note { font-size: 13px; margin-top: 6px }
code { font: 0.92em ui-monospace, 'Liberation Mono', monospace; color: var(--ink) }
nav dl { margin: 24px 0 0; display: grid; gap: 10px; line-height: 1.4 }
nav div { display: grid; grid-template-columns: 150px 1fr; gap: 2px 20px } nav dd { margin: 0; display: grid; gap: 3px }
nav dt a { font-weight: 600; color: var(--ink); text-decoration: none } nav dd a { justify-self: start }
figure { margin: 30px 0 0; break-inside: avoid-page } figcaption { margin-bottom: 12px }
svg.plot { display: block; width: 100%; height: auto; overflow: visible; font: 11px system-ui, sans-serif; color: var(--soft) }
svg.plot text { white-space: pre }
.narrow { display: none } .patterns { position: absolute }
.legend { list-style: none; margin: 0; padding: 0; font-size: 13px }
.legend.line { display: flex; flex-wrap: wrap; gap: 2px 16px; margin-bottom: 8px }
.legend li { display: flex; align-items: center; gap: 6px } .legend .none { color: var(--soft) } .legend .none .swatch { opacity: 0.45 }
#map-legend { display: grid; grid-template-columns: auto auto 1fr auto; column-gap: 6px }
#map-legend li { display: grid; grid-column: span 4; grid-template-columns: subgrid } #map-legend .rest { grid-column: 2 / -1 }
.legend .prefix { font-weight: 600 } #map-legend b { text-align: right } .on-paper { display: none }
.legend b { font-variant-numeric: tabular-nums }
.dot { width: 0.7em; height: 0.7em; margin-right: 0.4em }
.swatch { width: 14px; height: 14px; flex: none } .swatch rect { stroke: var(--rule) }
input:not([type=range]), button, select { font: inherit; padding: 4px 8px; color: var(--ink); background: var(--paper);
  border: 1px solid var(--soft); border-radius: 4px; max-width: 100% }
#map-control { display: flex; align-items: center; gap: 12px; margin-bottom: 12px; font-size: 15px }
#map-control input { flex: 1; min-width: 0; height: 28px; accent-color: var(--link) }
#map-play { min-width: 5em } #map-control label { white-space: nowrap }
#map-control output { font-variant-numeric: tabular-nums; min-width: 17ch; text-align: right }
.map-body { display: grid; grid-template-columns: minmax(0, 620px) minmax(240px, 1fr); gap: 24px; align-items: start }
details { margin-top: 10px } summary { cursor: pointer; color: var(--soft); font-size: 13px; width: fit-content }
.scroll { overflow: auto; max-height: 440px; margin-top: 8px; border: 1px solid var(--rule); border-radius: 4px;
  --edge: color-mix(in srgb, var(--soft) 45%, transparent); background: no-repeat local left / 32px 100% linear-gradient(90deg, var(--paper) 40%, transparent),
  no-repeat local right / 32px 100% linear-gradient(270deg, var(--paper) 40%, transparent), no-repeat left / 10px 100% linear-gradient(90deg, var(--edge), transparent),
  no-repeat right / 10px 100% linear-gradient(270deg, var(--edge), transparent) } /* a shade where more columns are */
table { border-collapse: collapse; font-size: 13px; line-height: 1.35; min-width: 100% }
th, td { text-align: left; padding: 4px 10px; vertical-align: top; overflow-wrap: normal; max-width: 42ch }
td { border-top: 1px solid var(--rule) }
th { position: sticky; top: 0; background: var(--paper); color: var(--soft); font-weight: 600; box-shadow: 0 1px var(--rule) }
time { white-space: nowrap } .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap } .unknown { color: var(--soft) }
footer { margin-top: 56px; border-top: 1px solid var(--rule); padding-top: 10px; font-size: 13px; color: var(--soft) }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
@media screen and (max-width: 740px) {
  body { padding: 18px 12px 40px } h1 { font-size: 25px } h3 { font-size: 18px } h2 { margin-top: 44px }
  th, td { padding: 4px 6px } .wide, .scaled text { display: none } .narrow { display: block } .map-body { grid-template-columns: 1fr; gap: 12px }
  nav div { grid-template-columns: 1fr }
  #map-control { flex-wrap: wrap; gap: 2px 8px } #map-play { min-width: 4.5em } #map-control input { order: 3; flex-basis: 100% } #map-control output { margin-left: auto; min-width: 0; font-size: 14px }
  #map-legend { grid-template-columns: auto 1fr auto auto 1fr auto; gap: 2px 6px } #map-legend li { grid-column: span 3 }
  #map-legend li:nth-child(even) { padding-left: 8px } #map-legend .prefix { display: none }
}
@media screen and (max-width: 480px) {
  #map-legend { grid-template-columns: auto 1fr auto } #map-legend li:nth-child(even) { padding-left: 0 }
}
@media print {
  @page { margin: 11mm } body { max-width: none; padding: 0; font-size: 9pt; line-height: 1.35; --paper: #fff }
  h1 { font-size: 18pt } h2 { font-size: 8pt; margin-top: 18px; padding-top: 6px } h3 { font-size: 12pt } .lead { max-width: none; font-size: 9pt }
  nav dl { margin-top: 10px; gap: 4px } figure { margin-top: 12px; break-inside: auto } figcaption { margin-bottom: 4px }
  details, .scroll, .note { margin-top: 3px } .note, .legend, summary { font-size: 7.5pt }
  details::details-content { content-visibility: visible; display: block } summary { list-style: none }
  .scroll { overflow: visible; max-height: none; border: 0; background: none } table { font-size: 6.5pt; line-height: 1.2 }
  th, td { padding: 0 4px; overflow-wrap: anywhere }
  th { position: static } tr { break-inside: avoid } #map-control { display: none !important }
  h2, h3, figcaption, .legend, summary { break-after: avoid } figcaption { break-inside: avoid }
  .brief .more { display: none } .brief .on-paper { display: block }
  .map-body { grid-template-columns: 46% 1fr } .wide, .scaled { break-inside: avoid } .wide { max-width: 84% }
  ${printedFills}
}
`
