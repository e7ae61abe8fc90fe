import { newsSchema, parseNewsEntry } from '../../api/schemas/articles.ts'
import { isInstant } from '../../api/schemas/form/limits.ts'
import { RecordError } from '../../app/errors.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { defineResource, type Normalized } from '../../sync/resource.ts'
import { knownBy, oneAnswer, plainText, textField } from '../record.ts'
import { newsComments, newsHistory } from './tables.ts'

/** The newest announcements of the forum: `GET /latest-news` (API reference 3.6). */
export const latestNews = defineResource({
  name: 'latest-news',
  schedule: '29 * * * *',
  lane: 'refresh',
  cacheSeconds: 3600,
  route: '/latest-news',
  // A list of a few, of which several change at once.
  plausibleShare: 0.2,
  rawCost: '20 kB a response',
  changeLog: true,
  history: newsHistory,
  samples: { comments: { table: newsComments, key: ['forumThread'] } },
  extract: async (api, { signal, lane }) => {
    const answer = await api.latestNews({ signal, lane })
    return { records: Object.values(answer.body), ...oneAnswer(answer) }
  },
  keyOf: (record) => textField(record, 'forumThread'),
  normalize: normalizeNews,
  ...knownBy(newsSchema),
})

/** @throws RecordError when it has no address: nothing else tells one from another */
export function normalizeNews(record: unknown): Normalized<typeof newsHistory> {
  const { comments, ...parsed } = parseNewsEntry(record)
  const { forumThread, title, author, date, content } = parsed
  if (!forumThread) throw new RecordError('an announcement has no address', { context: { path: '/forumThread' } })
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
