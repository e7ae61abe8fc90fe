import { printScript } from '../../drawing/document.ts'

/**
 * What every page runs, and does without: `/` goes to the search, instants get the reader's time beside them, ages count on (by the server's clock,
 * which may not be this one's), the values of a table that a small window cuts are below each other with their headings, and what is folded away is
 * printed, too. Changes attributes and text alone, so that no name is ever read as markup.
 */
export const siteScript = `${printScript}
addEventListener('keydown', (event) => {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return
  event.preventDefault()
  document.querySelector('#search').focus()
})
const localTimes = (part) => {
  for (const one of part.querySelectorAll('time[datetime*=T]')) {
    const at = new Date(one.dateTime)
    const offset = at.getTimezoneOffset()
    if (offset === 0 || Number.isNaN(offset)) continue
    const isOtherDay = new Date(at - offset * 60000).getUTCDate() !== at.getUTCDate()
    const date = isOtherDay ? { day: 'numeric', month: 'short' } : {}
    const options = { ...date, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
    one.dataset.local = new Intl.DateTimeFormat('en-GB', options).format(at)
    one.title = at.toString()
  }
}
localTimes(document)
const small = matchMedia('(max-width: 900px)')
const stackTables = () => {
  const all = [...document.querySelectorAll('main .scroll > table')]
  for (const one of all) one.classList.remove('stacked')
  for (const { tHead, tBodies, classList } of all.filter(({ parentNode: box }) => small.matches && box.scrollWidth > box.clientWidth)) {
    classList.add('stacked')
    for (const { rows } of tBodies) for (const { cells } of rows) for (const cell of cells)
      cell.dataset.of = tHead.rows[0].cells[cell.cellIndex].textContent.replace(/ [▲▼]$/, '')
  }
}
stackTables()
small.onchange = stackTables
const ageText = (seconds) => {
  const [size, unit] = seconds < 7200 ? [60, 'min'] : seconds < 172800 ? [3600, 'h'] : [86400, 'd']
  return Math.round(seconds / size) + ' ' + unit
}
const opened = Date.now()
for (const one of document.querySelectorAll('[data-age]'))
  setInterval(() => { one.textContent = ageText(Number(one.dataset.age) + (Date.now() - opened) / 1000) }, 20000)
`
