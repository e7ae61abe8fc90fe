import { joinDates } from '../../api/http/response-headers.ts'
import { articleSummarySchema, articleVocabulary, parseArticleSummary } from '../../api/schemas/articles.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { fieldOf, knownBy } from '../record.ts'
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
    const walks = []
    for (const type of articleVocabulary.type) walks.push(await api.articles.all(type, { signal, lane }))
    const incomplete = walks.some(({ complete }) => !complete)
    const { unsteady } = walks.find((walk) => walk.unsteady !== undefined) ?? {}
    return {
      records: walks.flatMap(({ records }) => records),
      complete: !incomplete,
      ...joinDates(walks),
      pages: walks.reduce((sum, { pages }) => sum + pages, 0),
      restarts: walks.reduce((sum, { restarts }) => sum + restarts, 0),
      ...(unsteady === undefined ? {} : { unsteady }),
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
