import type { Random } from '../../base/clock.ts'
import { between, chance, drawsFor, hex, pick } from '../generator/draw.ts'
import { place } from '../generator/places.ts'
import type { Item } from '../generator/records.ts'
import { adjectives, nouns, sentences, titled } from '../generator/words.ts'
import { type AnswerSource, type ApiRequest, isRefusal, type Refusal, refuse } from '../http/answer.ts'
import { cachedSource, type Found, shared } from '../http/cached-source.ts'
import { type AnswerForm, cutPage, pageNumber } from '../http/paging.ts'
import type { WorldSource } from '../world-source.ts'
import { abilityMapBody, abilityTreeBody, type ClassName, classBody, classesBody, classNames } from './abilities.ts'
import { articleBody, articles, articleTypes, newsBody, videosBody } from './articles.ts'
import { aspectsBody } from './aspects.ts'
import { balanceOf, questCount } from './balance.ts'

const services = 'Blacksmith,Potion Merchant,Item Identifier,Trade Market,Bank,Cave,Boss Altar,Dungeon'.split(',')
const resources = ['ALDERIN', 'RUSSET', 'TAMRITE', 'ORRIC', 'SWEETGRASS', 'BLUECORN', 'MINNOW', 'BROOKFIN']
const grounds = ['NODE', 'NODE', 'NODE', 'WALL', 'CORNER'] as const

/** The body of `/map/locations/markers`; coordinates are numbers as text (API reference 3.6). */
function markersBody(seed: number) {
  const random = drawsFor(seed, 'markers')
  return Array.from({ length: 420 }, () => {
    const name = pick(random, services)
    const icon = `Content_${name.replaceAll(' ', '')}.png`
    const { x, y, z } = place(random)
    return { name, icon, x: String(x), y: String(y), z: String(z) }
  })
}

/** The body of `/map/gathering-nodes`: about as many as the live game has (API reference 11). */
function gatheringNodesBody(seed: number) {
  const random = drawsFor(seed, 'gathering nodes')
  return Array.from({ length: 16_000 }, () => ({
    ...place(random),
    angle: 45 * between(random, 0, 7),
    type: pick(random, grounds),
    resource: pick(random, resources),
    level: 10 * between(random, 0, 11) || 1,
  }))
}

/** Discoveries as the search shows them: a name and two corners. */
export function discoveries(seed: number) {
  const random = drawsFor(seed, 'discoveries')
  return Array.from({ length: 150 }, () => {
    const { x, z } = place(random)
    const name = `${titled(pick(random, adjectives), pick(random, nouns))}${chance(random, 0.2) ? ' Ruins' : ''}`
    return { name, start: [x, z] as const, end: [x + between(random, 10, 120), z + between(random, 10, 120)] as const }
  })
}

const families = /^\/(ability|aspects|classes|publisher|latest-news|map)(\/|$)/

/** Puts the content without a simulation around the items of a world. */
export function withContent(items: WorldSource, form: AnswerForm): WorldSource {
  const content = contentSource(form, () => items.itemWorld().items)
  return {
    ...items,
    answer: (request, now) => (families.test(request.path) ? content : items).answer(request, now),
  }
}

/** A body to be written when no copy is left, as of an instant in ms. */
type Write = (at: number) => unknown

/** Serves classes and their abilities, articles, places on the map. All of it follows from the seed and the time. */
function contentSource(form: AnswerForm, items: () => readonly Item[]): AnswerSource {
  const { seed, dialect, now: startedAt } = form
  const until = (at: number) => ({ from: startedAt, until: at })
  const balance = (name: ClassName, at: number) => balanceOf(seed, name, until(at))
  const plain: Readonly<Record<string, Write>> = {
    '/classes': () => classesBody(seed),
    '/publisher/videos/list': (at) => videosBody(seed, at),
    '/latest-news': (at) => newsBody(seed, until(at)),
    '/map/locations/markers': () => markersBody(seed),
    '/map/gathering-nodes': () => gatheringNodesBody(seed),
    '/map/quests': (at) => ({ quests: questCount(seed, until(at)) }),
    '/map/world-events': (at) => worldEventsBody(seed, at),
  }
  const perClass: Readonly<Record<string, (name: ClassName, at: number) => unknown>> = {
    '/ability/tree/': (name, at) => abilityTreeBody(seed, name, dialect, balance(name, at).mana),
    '/ability/map/': (name) => abilityMapBody(seed, name),
    '/aspects/': (name, at) => aspectsBody(seed, name, balance(name, at).percent),
    '/classes/': (name) => classBody(seed, name),
  }
  const perLevel: Readonly<Record<string, (level: number | undefined, at: number) => unknown>> = {
    '/map/camps': (level, at) => mapContentBody(seed, { type: 'CAMP', level }, items(), at),
    '/map/raids': (level, at) => mapContentBody(seed, { type: 'RAID', level }, items(), at),
    '/map/loot-pools': (level, at) => lootPoolsBody(seed, level, items(), at),
  }

  function find({ path, query }: ApiRequest, at: number): Found | Refusal {
    const write = plain[path] ?? ofClass(path) ?? ofLevel(path, query) ?? ofArticles(path, query, at)
    if (!write) return refuse.notFound()
    if (isRefusal(write)) return write
    return shared(() => write(at), `${query.get('page') ?? ''} ${query.get('level') ?? ''}`)
  }

  function ofClass(path: string): Write | Refusal | undefined {
    const [prefix, body] = Object.entries(perClass).find(([start]) => path.startsWith(start)) ?? []
    if (prefix === undefined || !body) return undefined
    const name = classNames.find((one) => one === path.slice(prefix.length))
    return name ? (at) => body(name, at) : { status: 400, error: 'InvalidTree', detail: 'There is no such class.' }
  }

  function ofLevel(path: string, query: URLSearchParams): Write | Refusal | undefined {
    const body = perLevel[path]
    if (!body) return undefined
    const level = query.get('level')
    if (level !== null && !/^\d{1,3}$/.test(level)) return refuse.invalidQuery('level must be a number.')
    return (at) => body(level === null ? undefined : Number(level), at)
  }

  function ofArticles(path: string, query: URLSearchParams, at: number): Write | Refusal | undefined {
    const [, action, asked, pk] = /^\/publisher\/articles\/(list|fetch)\/([^/]+)(?:\/(\d+))?$/.exec(path) ?? []
    const type = articleTypes.find((one) => one === asked)
    if (!type || (action === 'fetch') !== (pk !== undefined)) return undefined
    const all = articles(seed, type, until(at))
    if (action === 'fetch') {
      const found = all.find(({ summary }) => String(summary.pk) === pk)
      return found ? () => articleBody(found) : refuse.notFound()
    }
    const page = pageNumber(query, all.length, form)
    if (typeof page !== 'number') return page
    return () => {
      const { controller, results } = cutPage(all, page, form)
      // Keyed by the place within the page; the key of an article is its pk (API reference 4.1).
      return { controller, results: Object.fromEntries(results.map(({ summary }, nth) => [String(nth + 1), summary])) }
    }
  }

  return cachedSource(find)
}

const week = 7 * 24 * 3_600_000
const difficulties = ['EASY', 'MEDIUM', 'HARD']
const lengths = ['SHORT', 'MEDIUM', 'LONG']
const raids = ['Vault of Reeds', 'The Drowned Observatory', 'Thorn Cathedral', 'The Pale Engine', 'The Last Granary']

/** Milliseconds before it begins that an event shows its schedule. */
export const announced = 100 * 60_000

/** When an event begins next, after an instant; ms since the epoch. Each comes again every ten to fourteen hours. */
function nextStart(seed: number, nth: number, after: number): number {
  const random = drawsFor(seed, `world event ${nth}`)
  const period = between(random, 120, 168) * 5 * 60_000
  const offset = between(random, 0, 167) * 5 * 60_000
  return offset + (Math.floor((after - offset) / period) + 1) * period
}

/** Every start of an event in `[from, to)`, ms since the epoch, by its internal name. */
export function worldEventStarts(seed: number, from: number, to: number): { name: string; at: number }[] {
  return worldEventsBody(seed, from).flatMap(({ internalName: name }, nth) => {
    const starts: { name: string; at: number }[] = []
    for (let at = nextStart(seed, nth, from - 1); at < to; at = nextStart(seed, nth, at)) starts.push({ name, at })
    return starts
  })
}

/** The body of `/map/world-events` at an instant (ms): a few of them have a schedule at any time (API reference 8). */
export function worldEventsBody(seed: number, at: number) {
  const random = drawsFor(seed, 'world events')
  return Array.from({ length: 69 }, (_, nth) => {
    const level = between(random, 1, 106)
    const vague = chance(random, 0.06)
    const begins = nextStart(seed, nth, at)
    return {
      name: titled(pick(random, adjectives), pick(random, nouns)),
      internalName: hex(random, 8),
      lore: pick(random, sentences),
      difficulty: vague ? null : pick(random, difficulties),
      level: vague ? null : level,
      length: vague ? null : pick(random, lengths),
      rewardPerLevel: vague ? null : { [String(level)]: ['Combat Experience', 'Emeralds'] },
      requirements: vague ? null : [{ type: 'COMBAT_LEVEL', value: level }],
      location: Array.from({ length: between(random, 1, 3) }, () => ({
        event: place(random),
        spawn: place(random),
        reward: chance(random, 0.8) ? place(random) : null,
        radius: between(random, 10, 60),
        spawnRadius: between(random, 20, 90),
      })),
      schedule: begins - at <= announced ? `${new Date(begins).toISOString().slice(0, 19)}+00:00` : null,
    }
  })
}

/** What camps and raids have in common. */
interface MapContent {
  readonly type: 'CAMP' | 'RAID'
  /** Recomputes the rewards for this level; undefined for the place's own. */
  readonly level: number | undefined
}

/** The body of `/map/camps` or `/map/raids`; the rewards change every week (API reference 8). */
function mapContentBody(seed: number, { type, level: asked }: MapContent, items: readonly Item[], at: number) {
  const random = drawsFor(seed, `content ${type}`)
  const names = type === 'RAID' ? raids : Array.from({ length: 8 }, () => `${titled(pick(random, nouns))} Camp`)
  return names.map((name, nth) => {
    const level = between(random, 40, 106)
    const { x, y, z } = place(random)
    return {
      name,
      internalName: `${name.replaceAll(' ', '').toLowerCase()}${type === 'CAMP' ? nth + 1 : ''}`,
      type,
      lore: type === 'RAID' ? pick(random, sentences) : null,
      difficulty: pick(random, difficulties),
      level,
      length: pick(random, lengths),
      requirements: type === 'RAID' ? [{ type: 'COMBAT_LEVEL', value: level }] : [],
      location: chance(random, 0.9) ? { x: x + 0.5, y, z: z + 0.5 } : null,
      rewards: rewards(drawsFor(seed, `${name} ${Math.floor(at / week)}`), items, asked ?? level),
    }
  })
}

/** The body of `/map/loot-pools`: every camp and raid with its rewards only. */
export function lootPoolsBody(seed: number, level: number | undefined, items: readonly Item[], at: number) {
  return (['CAMP', 'RAID'] as const).flatMap((type) =>
    mapContentBody(seed, { type, level }, items, at).map(({ name, internalName, rewards: pool }) => ({
      name,
      internalName,
      type,
      rewards: pool,
    })),
  )
}

const tierOf: Readonly<Record<string, string>> = { weapon: 'ITEM', armour: 'ITEM', accessory: 'ITEM', tome: 'TOME' }

function rewards(random: Random, items: readonly Item[], level: number) {
  const near = items.filter(
    ({ type, requirements, tier }) =>
      (type in tierOf || type === 'ingredient') &&
      tier !== 'normal' &&
      Math.abs(Number(requirements.level) - level) < 12,
  )
  const drawn = near.length === 0 ? [] : Array.from({ length: between(random, 6, 12) }, () => pick(random, near))
  return [
    { name: 'Liquid Emerald', type: 'CURRENCY', amount: between(random, 1, 4), always: true },
    ...[...new Set(drawn)].map(({ displayName, type, tier }) => ({
      name: displayName,
      type: tierOf[type] ?? 'INGREDIENT',
      amount: 1,
      always: false,
      ...(tier && type !== 'ingredient' ? { tier: tier.toUpperCase() } : {}),
      ...(tier === 'mythic' && chance(random, 0.2) ? { shiny: true } : {}),
    })),
  ]
}
