/**
 * Moves the map through time, by hand or by itself. Reads what to show from the JSON beside it and changes only attributes and text, so
 * that no name is ever read as markup. Without it, the page shows the last moment.
 */
export const mapScript = `
const states = document.getElementById('map-states')
// What a page adds: how a place is painted, and what follows a step.
const view = { paint: undefined, shown: undefined }
const map = states && moveMap(JSON.parse(states.textContent))

function moveMap(given) {
  const { times, fills, labels, widths, rooms, names, changes } = given
  view.states = given
  const slider = document.getElementById('map-slider')
  const legend = [...document.querySelectorAll('#map-legend [data-guild]')]
  const drawings = [...document.querySelectorAll('#map svg.plot')].map((svg) => ({
    rects: [...svg.querySelectorAll('g[data-mark=rect] rect')],
    texts: [...svg.querySelectorAll('g[data-mark=text] text')],
  }))
  const holderAt = (list, step) => {
    let holder = -1
    for (const [from, guild] of list) if (from <= step) holder = guild
    return holder
  }
  const show = (step) => {
    const held = new Map()
    changes.forEach(([territory, list], place) => {
      const guild = holderAt(list, step)
      held.set(guild, (held.get(guild) ?? 0) + 1)
      for (const { rects, texts } of drawings) {
        const [fill, share] = view.paint?.(place, guild) ?? [guild < 0 ? 'url(#unknown)' : fills[guild], 1]
        rects[place].setAttribute('fill', fill)
        if (view.paint) rects[place].setAttribute('fill-opacity', share)
        rects[place].querySelector('title').textContent = territory + ': ' + (guild < 0 ? 'no holder known' : names[guild])
        // A label that would stick out of its place is left out.
        if (texts[place]) texts[place].textContent = guild < 0 || widths[guild] > rooms[place] ? ' ' : labels[guild]
      }
    })
    document.getElementById('map-time').textContent = times[step] + ' UTC'
    slider.setAttribute('aria-valuetext', times[step] + ' UTC')
    for (const item of legend) {
      const number = held.get(Number(item.dataset.guild)) ?? 0
      item.querySelector('b').textContent = number
      item.classList.toggle('none', number === 0)
    }
    view.shown?.(step)
  }
  view.show = show
  const [play, speed] = [document.getElementById('map-play'), document.getElementById('map-speed')]
  let next
  const pause = () => {
    clearTimeout(next)
    next = undefined
    play.textContent = 'Play'
  }
  // At a speed of 1, a week takes half a minute.
  const wait = () => { next = setTimeout(advance, 160 / Number(speed.value)) }
  const advance = () => {
    slider.value = slider.valueAsNumber + 1
    show(slider.valueAsNumber)
    if (slider.value === slider.max) pause()
    else wait()
  }
  play.addEventListener('click', () => {
    if (next !== undefined) return pause()
    if (slider.value === slider.max) slider.value = 0
    show(slider.valueAsNumber)
    play.textContent = 'Pause'
    wait()
  })
  slider.addEventListener('input', () => {
    pause()
    show(slider.valueAsNumber)
  })
  // A browser may remember where the slider was.
  slider.value = slider.max
  document.getElementById('map-control').hidden = false
  show(slider.valueAsNumber)
  const placeOf = (name, label, width, fill) => {
    if (names.indexOf(name) < 0) given.prefixes[names.length] = labels[names.push(name) - 1] = label
    const guild = names.indexOf(name)
    fills[guild] ??= fill
    widths[guild] ??= width
    return guild
  }
  /** Adds a moment after the last, and returns what changed hands. A map that shows the last one goes on to it. */
  return (time, guilds, holders, instant) => {
    const last = times.length - 1
    const taken = []
    changes.forEach(([territory, list], place) => {
      if (!Object.hasOwn(holders, territory)) return
      const [before, guild] = [holderAt(list, last), holders[territory] < 0 ? -1 : placeOf(...guilds[holders[territory]])]
      if (guild === before) return
      list.push([last + 1, guild])
      taken.push({ territory, by: names[guild], from: names[before], rects: drawings.map(({ rects }) => rects[place]) })
    })
    if (taken.length === 0) return taken
    times.push(time)
    given.instants.push(instant)
    slider.max = last + 1
    if (slider.valueAsNumber === last && next === undefined) {
      slider.value = last + 1
      show(last + 1)
    }
    return taken
  }
}
`
