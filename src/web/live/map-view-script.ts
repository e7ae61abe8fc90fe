/**
 * What a map on a page of its own does: it is moved and enlarged by wheel, pinch, keys and buttons, opens a card of a territory, paints by
 * other things than the holder, steps from capture to capture, and keeps what it shows in the address. Moving changes one transform, so
 * that no territory is drawn anew. Names are set as text. Without it there is the map as it was last seen, and a list.
 */
export const mapViewScript = `
const known = document.getElementById('map-places')
if (map && known) viewMap(JSON.parse(known.textContent))

function viewMap({ resources, levels, blind, places: given }) {
  const sorted = [...new Set(view.states.changes.map(([name]) => name))].sort()
  const places = Object.fromEntries(
    given.map(([minutes, hq, treasury, defences, links, stored], nth) => [
      sorted[nth],
      {
        since: minutes === null ? null : new Date(minutes * 60000).toISOString(),
        hq: hq === 1,
        treasury: levels[treasury] ?? treasury,
        defences: levels[defences] ?? defences,
        links: links.map((other) => sorted[other]),
        stored: Object.fromEntries((stored || []).flatMap((one, place) => (one === 0 ? [] : [[resources[place], one]]))),
      },
    ]),
  )
  const { names, prefixes, changes, fills, instants, times } = view.states
  const port = document.querySelector('.map-port')
  const svg = port.querySelector('svg.plot')
  const rects = [...svg.querySelectorAll('g[data-mark=rect] rect')]
  const card = document.getElementById('map-card')
  const slider = document.getElementById('map-slider')
  const modeOf = document.getElementById('map-mode')
  const at = { x: 0, y: 0, zoom: 1 }
  let [chosen, guildShown, kept, step, framed] = [-1, undefined, undefined, slider.valueAsNumber, false]

  // Moving.
  const place = () => {
    framed = false
    svg.style.transform = 'translate(' + at.x + 'px,' + at.y + 'px) scale(' + at.zoom + ')'
    port.classList.toggle('near', at.zoom >= 4)
    port.classList.toggle('nearer', at.zoom >= 8)
  }
  const draw = () => {
    const [width, height] = [port.clientWidth, port.clientHeight]
    at.zoom = Math.min(16, Math.max(1, at.zoom))
    const [mapWidth, mapHeight] = [svg.clientWidth * at.zoom, svg.clientHeight * at.zoom]
    // Some of the map stays in sight.
    at.x = Math.min(width * 0.7, Math.max(width * 0.3 - mapWidth, at.x))
    at.y = Math.min(height * 0.7, Math.max(height * 0.3 - mapHeight, at.y))
    port.classList.add('moving')
    if (!framed) framed = requestAnimationFrame(place) > 0
    remember()
  }
  const zoomBy = (factor, x = port.clientWidth / 2, y = port.clientHeight / 2) => {
    const zoom = Math.min(16, Math.max(1, at.zoom * factor))
    at.x = x - ((x - at.x) * zoom) / at.zoom
    at.y = y - ((y - at.y) * zoom) / at.zoom
    at.zoom = zoom
    if (zoom >= 4) nameAll()
    draw()
  }
  const whole = () => {
    at.zoom = 1
    at.x = (port.clientWidth - svg.clientWidth) / 2
    at.y = (port.clientHeight - svg.clientHeight) / 2
    draw()
  }
  // Names are written when somebody first comes near enough to read them; from nearer, how each is defended stands above.
  let areNamed = false
  const nameAll = () => {
    if (areNamed) return
    areNamed = true
    const group = document.createElementNS(svg.namespaceURI, 'g')
    group.setAttribute('class', 'names')
    const write = (rect, words, up, name) => {
      const text = document.createElementNS(svg.namespaceURI, 'text')
      text.setAttribute('x', Number(rect.getAttribute('x')) + Number(rect.getAttribute('width')) / 2)
      text.setAttribute('y', Number(rect.getAttribute('y')) + Number(rect.getAttribute('height')) - up)
      text.setAttribute('class', name)
      text.textContent = words
      text.setAttribute('font-size', Math.min(2.6, rect.getAttribute('width') / words.length / 0.62))
      group.append(text)
    }
    rects.forEach((rect, place) => {
      const [territory] = changes[place]
      const known = places[territory]
      const produces = Object.entries(known?.stored ?? {}).filter(([, one]) => one[0] > 0)
      write(rect, territory + (produces.length > 0 ? ' \u00b7 ' + produces.map(([what]) => what).join(', ') : ''), 1, 'place')
      if (known && (known.treasury !== null || known.defences !== null))
        write(rect, 'treasury ' + levelText(known.treasury) + ', defences ' + levelText(known.defences), 4, 'levels')
    })
    svg.append(group)
  }
  port.addEventListener('wheel', (event) => {
    event.preventDefault()
    const box = port.getBoundingClientRect()
    zoomBy(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top)
  }, { passive: false })
  const fingers = new Map()
  let [moved, pressed] = [0, undefined]
  port.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || event.target.closest('button, .map-buttons')) return
    if (fingers.size === 0) [moved, pressed] = [0, event.target]
    fingers.set(event.pointerId, event)
  })
  port.addEventListener('pointermove', (event) => {
    const before = fingers.get(event.pointerId)
    if (!before) return
    const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY]
    moved += Math.abs(dx) + Math.abs(dy)
    if (moved > 4) port.setPointerCapture(event.pointerId)
    if (fingers.size === 2) {
      const [other] = [...fingers.values()].filter(({ pointerId }) => pointerId !== event.pointerId)
      const far = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY)
      const box = port.getBoundingClientRect()
      // The middle between them goes with both.
      at.x += dx / 2
      at.y += dy / 2
      zoomBy(far(event) / Math.max(1, far(before)), (event.clientX + other.clientX) / 2 - box.left, (event.clientY + other.clientY) / 2 - box.top)
    } else if (fingers.size === 1 && moved > 4) {
      at.x += dx
      at.y += dy
      draw()
    }
    fingers.set(event.pointerId, event)
  })
  for (const name of ['pointerup', 'pointercancel'])
    port.addEventListener(name, (event) => {
      if (!fingers.delete(event.pointerId) || fingers.size > 0) return
      const found = rects.indexOf(pressed)
      if (name === 'pointerup' && moved <= 4 && found >= 0) choose(found)
    })
  // A click opens the card, which has the link; the page itself is opened with Ctrl as any link.
  svg.addEventListener('click', (event) => {
    if (!event.ctrlKey && !event.metaKey) event.preventDefault()
  })
  svg.addEventListener('dragstart', (event) => event.preventDefault())
  const keys = {
    ArrowLeft: () => { at.x += 60 }, ArrowRight: () => { at.x -= 60 }, ArrowUp: () => { at.y += 60 }, ArrowDown: () => { at.y -= 60 },
    '+': () => zoomBy(1.4), '=': () => zoomBy(1.4), '-': () => zoomBy(1 / 1.4), 0: whole, Escape: () => choose(-1),
    Enter: () => choose(inMiddle()),
  }
  port.addEventListener('keydown', (event) => {
    if (event.target !== port || !keys[event.key] || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    keys[event.key]()
    draw()
  })
  const inMiddle = () => {
    const box = port.getBoundingClientRect()
    const far = (rect) => {
      const one = rect.getBoundingClientRect()
      return Math.hypot(one.left + one.width / 2 - box.left - box.width / 2, one.top + one.height / 2 - box.top - box.height / 2)
    }
    const all = rects.map(far)
    return all.indexOf(Math.min(...all))
  }
  for (const [id, act] of [['map-in', () => zoomBy(1.6)], ['map-out', () => zoomBy(1 / 1.6)], ['map-whole', whole]])
    document.getElementById(id).addEventListener('click', act)

  // A territory.
  const holdOf = (place, until) => changes[place][1].filter(([from]) => from <= until).at(-1) ?? [0, -1]
  const nameOf = (guild) => (guild < 0 ? 'no holder known' : names[guild])
  const row = (list, name, text) => {
    if (text === '' || text === undefined || text === null) return
    const [term, value] = ['dt', 'dd'].map((tag) => document.createElement(tag))
    term.textContent = name
    value.textContent = text
    list.append(term, value)
  }
  const levelText = (level) => (level === null ? 'unknown' : level.toLowerCase().replaceAll('_', ' '))
  const choose = (found) => {
    if (chosen >= 0) rects[chosen].classList.remove('chosen')
    chosen = found
    card.hidden = found < 0
    if (found >= 0) {
      rects[found].classList.add('chosen')
      fillCard()
    }
    remember()
  }
  const amount = (one) => one?.toLocaleString('en') ?? '?'
  const fillCard = () => {
    const [territory, list] = changes[chosen]
    const known = places[territory]
    const [from, guild] = holdOf(chosen, step)
    const isLatest = list.at(-1)[0] === from
    const title = card.querySelector('a')
    title.textContent = territory
    title.href = rects[chosen].closest('a').getAttribute('href')
    const facts = document.createElement('dl')
    row(facts, 'Held by', nameOf(guild))
    const since = isLatest && known?.since ? new Date(known.since) : undefined
    const now = new Date(instants[step])
    const minutes = since ? Math.max(0, (now - since) / 60000) : 0
    if (guild >= 0) row(facts, 'Since', since ? since.toISOString().slice(0, 16).replace('T', ' ') + ' UTC' : from === 0 ? 'before ' + times[0] : times[from] + ' UTC')
    if (since && guild >= 0) {
      row(facts, 'Held for', minutes < 120 ? Math.round(minutes) + ' min' : minutes < 2880 ? Math.round(minutes / 60) + ' h' : Math.round(minutes / 1440) + ' d')
      if (minutes < 10) row(facts, 'Cooldown', Math.ceil(10 - minutes) + ' min left')
    }
    if (known && step === times.length - 1) {
      row(facts, 'Treasury', levelText(known.treasury))
      row(facts, 'Defences', levelText(known.defences))
      if (known.hq) row(facts, 'Headquarters', 'yes')
      for (const [what, [makes, has, room]] of Object.entries(known.stored))
        if (makes > 0 || has > 0) row(facts, what, amount(makes) + ' an hour, ' + amount(has) + ' of ' + amount(room) + ' stored')
    }
    const routes = (known?.links ?? []).map((name) => {
      const other = changes.findIndex(([one]) => one === name)
      const holder = other < 0 ? -1 : holdOf(other, step)[1]
      return name + (holder < 0 ? '' : ' (' + prefixes[holder] + ')')
    })
    row(facts, 'Routes', routes.join(', '))
    const past = list.filter(([one], index) => index > 0 && one <= step).slice(-4).reverse()
    row(facts, 'Before', past.map(([one, holder]) => times[one] + ': ' + nameOf(holder)).join('; '))
    card.querySelector('dl').replaceWith(facts)
  }
  card.querySelector('button').addEventListener('click', () => { choose(-1); port.focus() })

  // Modes.
  // Of a moment before the last, nothing of this is said.
  const isPast = () => slider.valueAsNumber < times.length - 1
  const level = (name) => (name === null || name === undefined || isPast() ? undefined : 0.1 + 0.9 * (levels.indexOf(name) / 4))
  const most = Math.max(1, ...changes.map(([, list]) => list.length - 1))
  const span = (now) => (since) => Math.min(1, Math.log1p(Math.max(0, now - since) / 3600000) / Math.log1p(24 * 30))
  const resourceFills = { emerald: 'var(--g2)', ore: 'var(--g6)', crop: 'var(--g3)', fish: 'var(--g1)', wood: 'var(--g0)' }
  const lines = ['', 'M0 3H6', 'M3 0V6', 'M-1 1L1 -1M0 6L6 0M5 7L7 5', 'M0 3H6M3 0V6']
  const patternOf = (guild) => {
    const id = 'guild-' + guild
    if (!document.getElementById(id)) {
      const parts = [['pattern', { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse' }], ['rect', { width: 6, height: 6, fill: 'var(--g' + (guild % 7) + ')' }],
        ['path', { d: lines[Math.floor(guild / 7) % 5], stroke: '#000', 'stroke-width': 1 }]]
      const [pattern, ...inside] = parts.map(([name, values]) => {
        const part = document.createElementNS(svg.namespaceURI, name)
        for (const [key, value] of Object.entries(values)) part.setAttribute(key, value)
        return part
      })
      pattern.append(...inside)
      document.querySelector('.patterns defs').append(pattern)
    }
    return 'url(#' + id + ')'
  }
  const legend = [...document.querySelectorAll('#map-legend [data-guild]:not([data-guild="-1"])')]
  const modes = {
    guild: undefined,
    patterns: (place, guild) => (guild < 0 ? [] : [patternOf(guild), 1]),
    treasury: (place) => ['var(--heat)', level(places[changes[place][0]]?.treasury)],
    defences: (place) => ['var(--heat)', level(places[changes[place][0]]?.defences)],
    resources: (place) => {
      const made = Object.entries(places[changes[place][0]]?.stored ?? {}).filter(([what]) => what !== 'emerald').sort(([, a], [, b]) => b[0] - a[0])[0]
      const what = made && made[1][0] > 0 ? made[0] : 'emerald'
      return [resourceFills[what] ?? 'var(--g5)', !isPast() && places[changes[place][0]] && Object.keys(places[changes[place][0]].stored).length > 0 ? 1 : undefined]
    },
    age: (place) => {
      const now = slider.valueAsNumber
      const [from] = holdOf(place, now)
      const since = changes[place][1].at(-1)[0] === from ? places[changes[place][0]]?.since : from > 0 && instants[from]
      return ['var(--heat)', since ? span(Date.parse(instants[now]))(Date.parse(since)) : undefined]
    },
    heat: (place) => ['var(--heat)', 0.06 + 0.94 * ((changes[place][1].length - 1) / most)],
  }
  const said = {
    guild: '', patterns: 'Colours and lines that can be told apart where few colours are seen.', treasury: 'Darker: a larger treasury, as last seen.', defences: 'Darker: stronger defences, as last seen.',
    resources: 'What each produces most beside emeralds:', age: 'Darker: held for longer, up to a month.',
    heat: 'Darker: changed hands more often in this period.',
  }
  view.paint = (place, guild) => {
    const isDim = guildShown !== undefined && names[guild] !== guildShown
    const [fill, share] = modes[modeOf.value]?.(place, guild) ?? [undefined, 1]
    if (fill === undefined) return [guild < 0 ? 'url(#unknown)' : fills[guild], isDim ? 0.15 : 1]
    return share === undefined ? ['url(#unknown)', 1] : [fill, isDim ? share * 0.15 : share]
  }
  const say = () => {
    const line = document.getElementById('map-said')
    line.textContent = said[modeOf.value]
    if (modeOf.value === 'resources')
      for (const [what, fill] of Object.entries(resourceFills)) {
        const key = document.querySelector('#map-legend .swatch').cloneNode(true)
        key.firstElementChild.setAttribute('fill', fill)
        line.append(' ', key, what === 'emerald' ? 'nothing' : what)
      }
  }
  modeOf.addEventListener('change', () => { say(); view.show(step) })

  const routes = document.getElementById('map-routes')
  const showRoutes = () => svg.classList.toggle('without-routes', !routes.checked)
  routes.addEventListener('change', () => { showRoutes(); remember() })

  // Time.
  const strip = document.getElementById('map-strip')
  const counts = times.map(() => 0)
  for (const [, list] of changes) {
    list.forEach(([from], index) => {
      if (index > 0) counts[from]++
    })
  }
  const high = Math.max(1, ...counts)
  strip.setAttribute('viewBox', '0 0 ' + times.length + ' 10')
  counts.forEach((count, one) => {
    const isBlind = blind.includes(one)
    const bar = document.createElementNS(strip.namespaceURI, 'rect')
    const height = isBlind ? 10 : (10 * count) / high
    for (const [name, value] of Object.entries({ x: one, width: 0.9, y: 10 - height, height, fill: isBlind ? 'url(#unknown)' : 'var(--cover)' })) bar.setAttribute(name, value)
    strip.append(bar)
  })
  const go = (to) => { slider.value = to; slider.dispatchEvent(new Event('input')) }
  const near = (from, by) => { for (let one = from + by; one >= 0 && one < times.length; one += by) if (counts[one] > 0) return one }
  for (const [id, by] of [['map-before', -1], ['map-next', 1]])
    document.getElementById(id).addEventListener('click', () => go(near(step, by) ?? (by < 0 ? 0 : times.length - 1)))

  // The address.
  let asked
  function remember() {
    clearTimeout(asked)
    asked = setTimeout(() => {
      // Drawn sharply where it stays.
      port.classList.remove('moving')
      const parts = new URLSearchParams()
      if (step < times.length - 1) parts.set('t', instants[step])
      if (at.zoom > 1) parts.set('z', [at.zoom.toFixed(2), (-at.x / port.clientWidth).toFixed(3), (-at.y / port.clientHeight).toFixed(3)].join(','))
      if (guildShown !== undefined) parts.set('g', guildShown)
      if (modeOf.value !== 'guild') parts.set('m', modeOf.value)
      if (!routes.checked) parts.set('r', '0')
      if (chosen >= 0) parts.set('at', changes[chosen][0])
      history.replaceState(null, '', location.pathname + location.search + (parts.size > 0 ? '#' + parts : ''))
    }, 300)
  }
  view.shown = (now) => {
    step = now
    // Which places were headquarters before is not drawn.
    svg.classList.toggle('past', step < times.length - 1)
    for (const item of legend) item.querySelector('rect').setAttribute('fill', modeOf.value === 'patterns' ? patternOf(Number(item.dataset.guild)) : fills[item.dataset.guild])
    if (chosen >= 0) fillCard()
    remember()
  }
  const recall = () => {
    const parts = new URLSearchParams(location.hash.slice(1))
    const [zoom, x, y] = (parts.get('z') ?? '').split(',').map(Number)
    if (zoom > 1 && Number.isFinite(x) && Number.isFinite(y)) {
      Object.assign(at, { zoom, x: -x * port.clientWidth, y: -y * port.clientHeight })
      if (zoom >= 4) nameAll()
      draw()
    }
    if (Object.hasOwn(modes, parts.get('m') ?? '')) modeOf.value = parts.get('m')
    routes.checked = parts.get('r') !== '0'
    showRoutes()
    if (names.includes(parts.get('g'))) guildShown = kept = parts.get('g')
    const instant = Date.parse(parts.get('t'))
    // What is older than this page has one of its own.
    if (instant < Date.parse(instants[0]) && location.pathname.endsWith('/map') && location.search === '') return location.replace('?at=' + encodeURIComponent(parts.get('t')) + location.hash)
    // The first moment that shows what happened by then.
    const found = instants.findIndex((one) => Date.parse(one) >= instant)
    if (found >= 0) slider.value = found
    say()
    view.show(slider.valueAsNumber)
    const wanted = changes.findIndex(([name]) => name === parts.get('at'))
    if (wanted >= 0) choose(wanted)
  }
  for (const item of document.querySelectorAll('#map-legend [data-guild]'))
    {
    const name = names[Number(item.dataset.guild)]
    for (const reached of ['mouseenter', 'focusin']) item.addEventListener(reached, () => { guildShown = name; view.show(step) })
    // Its link opens its page; beside that, a click keeps it in sight.
    item.addEventListener('click', ({ target }) => { if (!target.closest('a')) kept = kept === name ? undefined : name })
  }
  for (const left of ['mouseleave', 'focusout']) document.getElementById('map-legend').addEventListener(left, () => { guildShown = kept; view.show(step) })
  document.querySelector('.map-tools').hidden = false
  port.classList.add('moves')
  port.tabIndex = 0
  port.setAttribute('role', 'application')
  port.setAttribute('aria-label', 'Map: arrows move, + and - enlarge, Enter opens the territory in the middle')
  whole()
  recall()
  addEventListener('resize', () => { if (at.zoom === 1) whole() })
}
`
