import type { Item } from '../generator/records.ts'
import { type AnswerSource, type ApiRequest, isRefusal, type Refusal, refuse } from '../http/answer.ts'
import { cachedSource, type Found, shared } from '../http/cached-source.ts'
import { type AnswerForm, cutPage, pageNumber } from '../http/paging.ts'
import type { WorldSource } from '../world-source.ts'
import { abilityMapBody, abilityTreeBody } from './abilities.ts'
import { articleBody, articles, articleTypes, newsBody, videosBody } from './articles.ts'
import { aspectsBody } from './aspects.ts'
import { balanceOf, questCount } from './balance.ts'
import { type ClassName, classBody, classesBody, classNames } from './classes.ts'
import { lootPoolsBody, mapContentBody, worldEventsBody } from './happenings.ts'
import { gatheringNodesBody, markersBody } from './places.ts'

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
