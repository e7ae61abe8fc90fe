import { mapScript } from '../../analytics/report/map/map-script.ts'
import { siteScript } from '../html/site-script.ts'
import { mapViewScript } from './map-view-script.ts'

/**
 * The script of the map with captures as they come. The stream says that something changed, `/map.json` says what is true now: what a
 * connection missed is there, too. Nothing is open while the page is hidden, since a browser opens few connections to one host.
 */
export const liveScript = `${siteScript}${mapScript}${mapViewScript}
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
    const { at, title, guilds, holders } = await (await fetch('/map.json?after=' + after)).json()
    for (const one of map(at, guilds, holders, new Date(Date.now()).toISOString())) tell(at, one)
    document.querySelector('h1').textContent = title
    document.title = title + ' \u00b7 wynnsync'
    say('Live: captures appear here and on the map. As of ' + at + ' UTC.')
  }
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
  live.hidden = false
  document.addEventListener('visibilitychange', follow)
  follow()
}
`
