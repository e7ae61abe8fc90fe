import { primaryKey } from 'drizzle-orm/pg-core'
import { bigint, sampledAt, text, textInstant } from '../../db/columns.ts'
import { historyTable } from '../../db/history.ts'
import { gameTable } from '../../db/schemas.ts'

/** API reference 3.6. */
export const news = historyTable(
  'news',
  'Versions of the announcements among the latest news of the forum. One that makes room for newer ones ends; it was not removed.',
  { forumThread: text('Natural key: address of the announcement.') },
  {
    title: text('Title.'),
    author: text('Name of who wrote it, as the API sends it.'),
    date: text('When it was published, as the API sends it.'),
    publishedAt: textInstant('The same as an instant. NULL: the API did not send one.'),
    contentHtml: text('Its text as the API sends it: HTML.'),
    content: text('The same as plain text.'),
  },
  {
    document: true,
    comments: { document: 'The whole record in the shape of the API, without the number of comments.' },
  },
)

export const newsComments = gameTable(
  'news_comments',
  'How many comments an announcement has, a row whenever the number changed.',
  {
    forumThread: text('Address of the announcement.').notNull(),
    observedAt: sampledAt(),
    comments: bigint('How many comments.'),
  },
  (self) => [primaryKey({ name: 'news_comments_pkey', columns: [self.forumThread, self.observedAt] })],
)

export const newsHistory = { root: news, parts: {} }
