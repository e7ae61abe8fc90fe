import { articleSummarySchema, articleVocabulary, parseArticleSummary } from '../../api/schemas/articles.ts'
import type { Walk } from '../../api/walk.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { fieldOf, knownBy, severalParts } from '../record.ts'
import { articleHistory } from './tables.ts'

/** The articles of the website, type by type: `GET /publisher/articles/list/{type}` (API reference 3.6). */
export const articles = defineResource({
  name: 'articles',
  schedule: '7,37 * * * *',
  cacheSeconds: 120,
  route: '/publisher/articles/list/{type}',
  rawCost: '60 kB a response',
  changeLog: true,
  history: articleHistory,
  extract: async (api, { signal, lane }) => {
    const walks: Walk[] = []
    const parts = articleVocabulary.type.map((type) => ({
      ask: async () => {
        const walk = await api.articles.all(type, { signal, lane })
        walks.push(walk)
        return [{ ...walk, expiresAt: null }, walk.records] as const
      },
    }))
    const all = await severalParts(parts)
    const unsteady = all.unsteady ?? walks.find((walk) => walk.unsteady !== undefined)?.unsteady
    return {
      ...all,
      complete: all.complete && walks.every(({ complete }) => complete),
      pages: walks.reduce((sum, { pages }) => sum + pages, 0),
      restarts: walks.reduce((sum, { restarts }) => sum + restarts, 0),
      ...(unsteady === undefined ? {} : { unsteady }),
      around: walks.flatMap(({ around = [] }) => around),
    }
  },
  keyOf: (record) => {
    const pk = fieldOf(record, 'pk')
    return Number.isSafeInteger(pk) ? String(pk) : undefined
  },
  normalize: normalizeArticle,
  ...knownBy(articleSummarySchema),
})

function normalizeArticle(record: unknown): Normalized<typeof articleHistory> {
  const parsed = parseArticleSummary(record)
  const { pk, type, title, recap, banner, visible, pinned, start_date, end_date, published_at } = parsed
  return {
    key: String(pk),
    document: parsed as Json,
    root: {
      pk,
      type,
      title,
      recap,
      banner,
      isVisible: visible,
      isPinned: pinned,
      startsAt: start_date,
      endsAt: end_date,
      publishedAt: published_at,
    },
    parts: {},
  }
}
