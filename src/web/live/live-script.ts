import { mapScript } from '../../drawing/map/map-script.ts'
import { siteScript } from '../html/site-script.ts'
import { mapViewScript } from './map-view-script.ts'

/** Calls `update` with the number of each change of the map, while the page is visible. */
const followScript = `
const readMap = async (after) => await (await fetch('/map.json?after=' + after)).json()
const stateOf = (at, isRecent) =>
  isRecent
    ? 'Live: captures appear here and on the map. As of ' + at + ' UTC.'
    : (at === null ? 'Nothing was received yet' : 'Nothing was received since ' + at + ' UTC') + ': captures appear here and on the map once responses come.'
function followStream(update, say) {
  let source
  let updated = Promise.resolve()
  // An answer that is older than the change does not count.
  const ask = ({ lastEventId }) => {
    const after = lastEventId || Date.now()
    updated = updated.then(() => update(after)).catch(() => say('No captures for the moment: the server gave no answer.'))
  }
  const follow = () => {
    source?.close()
    if (document.hidden) return
    source = new EventSource('/changes/stream?resource=territories')
    for (const name of ['open', 'change', 'gap']) source.addEventListener(name, ask)
    source.addEventListener('error', ({ target }) => {
      say('No captures for the moment: the server is away.')
      // A browser tries again by itself, unless it was refused.
      if (target === source && target.readyState === 2) setTimeout(follow, 30000)
    })
  }
  document.addEventListener('visibilitychange', follow)
  follow()
}
`

/** The script of the first page: the map takes the colours of those who hold it, and captures come on top of the others. */
export const homeScript = `${siteScript}${followScript}
const homeMap = document.getElementById('home-map')
const homeLive = document.getElementById('home-live')
if (homeMap && homeLive) followHome()

function followHome() {
  const rects = new Map([...homeMap.querySelectorAll('[data-place]')].map((rect) => [rect.dataset.place, rect]))
  const ticker = document.getElementById('ticker')
  const say = (text) => { homeLive.textContent = text }
  const update = async (after) => {
    const { at, isRecent, title, guilds, holders } = await readMap(after)
    for (const [place, holder] of Object.entries(holders)) {
      const rect = rects.get(place)
      const [name, label, , colour] = guilds[holder] ?? []
      const fill = colour ?? 'url(#unknown)'
      if (!rect || rect.getAttribute('fill') === fill) continue
      rect.setAttribute('fill', fill)
      rect.classList.add('taken')
      setTimeout(() => rect.classList.remove('taken'), 10000)
      rect.querySelector('title').textContent = place + ': ' + (name ?? 'no holder known')
      const text = rect.parentNode.querySelector('text')
      if (text) text.textContent = label ?? ''
      if (!ticker) continue
      const line = document.createElement('li')
      line.textContent = at + (name === undefined ? ': ' + place + ' has no known holder any more' : ': ' + name + ' took ' + place)
      ticker.prepend(line)
      while (ticker.children.length > 30) ticker.lastChild.remove()
    }
    document.querySelector('h1').textContent = title
    document.title = title + ' \\u00b7 wynnsync'
    say(stateOf(at, isRecent))
  }
  followStream(update, say)
}
`

/**
 * The script of the map with captures as they come. The stream says that something changed, `/map.json` says what is true now: what a
 * connection missed is there, too. Nothing is open while the page is hidden, since a browser opens few connections to one host.
 */
export const liveScript = `${siteScript}${followScript}${mapScript}${mapViewScript}
const live = document.getElementById('map-live')
if (map && live) followCaptures()

function followCaptures() {
  const [state, list] = [live.querySelector('p'), live.querySelector('ol')]
  const say = (text) => { state.textContent = text }
  const textOf = ({ territory, by, from }) =>
    by === undefined
      ? territory + ' has no known holder any more'
      : by + ' took ' + territory + (from === undefined ? '' : ' from ' + from)
  const tell = (at, capture) => {
    const line = document.createElement('li')
    line.textContent = at + ' UTC: ' + textOf(capture)
    list.prepend(line)
    while (list.children.length > 50) list.lastChild.remove()
    for (const rect of capture.rects) rect.classList.add('taken')
    setTimeout(() => { for (const rect of capture.rects) rect.classList.remove('taken') }, 10000)
  }
  const update = async (after) => {
    const { at, isRecent, title, guilds, holders } = await readMap(after)
    for (const one of map(at, guilds, holders, new Date(Date.now()).toISOString())) tell(at, one)
    document.querySelector('h1').textContent = title
    document.title = title + ' \u00b7 wynnsync'
    say(stateOf(at, isRecent))
  }
  live.hidden = false
  followStream(update, say)
}
`
