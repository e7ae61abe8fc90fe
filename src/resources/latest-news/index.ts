import { newsSchema, parseNewsEntry } from '../../api/schemas/articles.ts'
import { isInstant } from '../../api/schemas/form/limits.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { hasFields, joinLists, knownBy, oneRequest, plainText, recordError, textField } from '../record.ts'
import { newsComments, newsHistory } from './tables.ts'

/** The newest announcements of the forum: `GET /latest-news` (API reference 3.6). */
export const latestNews = defineResource({
  name: 'latest-news',
  schedule: '29 * * * *',
  cacheSeconds: 3600,
  route: '/latest-news',
  // A list of a few, of which several change at once.
  plausibleShare: 0.2,
  rawCost: '20 kB a response',
  file: {
    isRecord: (record) => hasFields(record, 'forumThread', 'title'),
    join: joinLists(null, 'forumThread'),
  },
  changeLog: true,
  history: newsHistory,
  samples: { comments: { table: newsComments, key: ['forumThread'] } },
  extract: oneRequest({ ask: (api, call) => api.latestNews(call), records: (body) => Object.values(body) }),
  keyOf: (record) => textField(record, 'forumThread'),
  normalize: normalizeNews,
  ...knownBy(newsSchema),
})

/** @throws RecordError when it has no address: nothing else tells one from another */
function normalizeNews(record: unknown): Normalized<typeof newsHistory> {
  const { comments, ...parsed } = parseNewsEntry(record)
  const { forumThread, title, author, date, content } = parsed
  if (!forumThread) throw recordError('/forumThread', 'an announcement has no address')
  return {
    key: forumThread,
    document: parsed as Json,
    root: {
      forumThread,
      title,
      author,
      date,
      publishedAt: isInstant(date) ? date : null,
      contentHtml: content,
      content: content && plainText(content),
    },
    parts: {},
    samples: {
      comments: [{ forumThread, comments: comments === null || comments === undefined ? null : Number(comments) }],
    },
  }
}
