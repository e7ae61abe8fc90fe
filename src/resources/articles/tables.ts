import { bigint, boolean, text, textInstant } from '../../db/columns.ts'
import { historyTable } from '../../db/history.ts'

/** API reference 3.6, 8. */
export const article = historyTable(
  'article',
  'Versions of the articles that the website lists. An edit is another version.',
  { pk: bigint('Natural key: the number of the article.') },
  {
    type: text('blog, event, giveaway, article, poll, or what else the API sends.'),
    title: text('Title.'),
    recap: text('Short text of the list.'),
    banner: text('Path of its picture.'),
    isVisible: boolean('True: it is shown to everybody.'),
    isPinned: boolean('True: it stands above the others.'),
    startsAt: textInstant('When what it is about begins. NULL: the API sends no time.'),
    endsAt: textInstant('When that ends.'),
    publishedAt: textInstant('When it was published, by the API.'),
  },
  { document: true },
)

export const articleHistory = { root: article, parts: {} }
