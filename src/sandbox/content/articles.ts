import { between, chance, drawsFor, pick } from '../generator/draw.ts'
import { adjectives, nouns, sentences, titled } from '../generator/words.ts'
import type { Span } from './balance.ts'

/** The kinds of articles there are (API reference 3.6). */
export const articleTypes = ['blog', 'event', 'giveaway', 'article', 'poll'] as const
type ArticleType = (typeof articleTypes)[number]

const day = 86_400_000
/** Milliseconds between two articles of a type, without the delay of each. */
const interval = 6 * day
/** Before any article that is listed, ms since the epoch. */
const firstOfAll = Date.UTC(2000, 0, 1)

/** An article as the list shows it, and everything else that its own page shows. */
type Article = ReturnType<typeof article>

/**
 * The articles of one type that are listed at the end of a span, newest first (API reference 8).
 * @param span.from the 8 to 50 before it are listed too
 */
export function articles(seed: number, type: ArticleType, { from, until }: Span): Article[] {
  const first = numberAt(from) - between(drawsFor(seed, `articles ${type}`), 8, 50)
  const all = Array.from({ length: numberAt(until) - first + 1 }, (_, nth) =>
    article(seed, type, { nth: first + nth, at: until }),
  )
  const listed = all.filter(({ isListed }) => isListed).reverse()
  return listed.map((one, nth) => ({ ...one, summary: { ...one.summary, pinned: nth === 0 } }))
}

function numberAt(at: number): number {
  return Math.floor((at - firstOfAll) / interval)
}

/** One article as it is at an instant: some are edited, some are taken away, and some of these return. */
function article(seed: number, type: ArticleType, { nth, at }: { nth: number; at: number }) {
  const random = drawsFor(seed, `article ${type} ${nth}`)
  const begins = firstOfAll + nth * interval + between(random, 0, 5 * 24 * 60) * 60_000
  const published = begins + between(random, 1, 9) * 60_000
  const ends = type === 'blog' || type === 'article' ? null : begins + between(random, 3, 14) * day
  const pk = nth * articleTypes.length + articleTypes.indexOf(type)
  const title = `The ${titled(pick(random, adjectives), pick(random, nouns))}`
  const texts = [pick(random, sentences), pick(random, sentences)] as const
  const editedAt = chance(random, 0.4) ? published + between(random, 2, 200) * 3_600_000 : Number.POSITIVE_INFINITY
  const goneAt = chance(random, 0.2) ? published + between(random, 5, 25) * day : Number.POSITIVE_INFINITY
  const backAt = chance(random, 0.5) ? goneAt + 3 * day : Number.POSITIVE_INFINITY
  const text = texts[at < editedAt ? 0 : 1]
  return {
    isListed: published <= at && (at < goneAt || at >= backAt),
    published,
    summary: {
      pk,
      title: at < editedAt ? title : `${title}, corrected`,
      type,
      banner: `${type}/banner/${title.toLowerCase().replaceAll(' ', '-')}.png`,
      banner_zoom: chance(random, 0.5),
      recap: text,
      visible: true,
      start_date: offset(begins),
      end_date: ends === null ? null : offset(ends),
      pinned: false,
      has_content: true,
      published_at: offset(published),
    },
    text,
    likes: between(random, 0, 400),
    votes: Array.from({ length: between(random, 2, 5) }, () => between(random, 0, 90)),
  }
}

/** The body of `/publisher/articles/fetch/{type}/{pk}`; polls have a question and its votes besides. */
export function articleBody({ summary, text, likes, votes }: Article) {
  const { pk, type, banner_zoom, banner, has_content: _, start_date, end_date, ...shared } = summary
  const answers = votes.map((_, nth) => [`answer-${pk}-${nth}`, titled(nouns[(pk + nth) % nouns.length] ?? 'none')])
  const total = votes.reduce((sum, count) => sum + count, 0)
  const poll = type === 'poll'
  return {
    id: pk,
    type,
    created_by: 'sandbox_author',
    discord_messages: { header: text },
    discord_recap: false,
    allow_discord: true,
    destination: 'noticeboard',
    published: true,
    ...shared,
    content: [
      { id: `text-${pk}`, type: 'text', focus: true, content: text, discord: true, website: true },
      ...(poll
        ? [
            {
              id: `question-${pk}`,
              type: 'question',
              focus: false,
              content: {
                answers: Object.fromEntries(answers),
                override: false,
                question: 'Which one is it?',
                requirements: [{ type: 'content_completion', subType: null, value: 25 }],
              },
              discord: false,
              website: true,
            },
          ]
        : []),
    ],
    // Here in the other spelling of UTC (API reference 8).
    start_date: zulu(start_date),
    end_date: end_date === null ? null : zulu(end_date),
    banner,
    banner_zoom,
    likes,
    require_discord: poll,
    require_clan: poll,
    ...(poll
      ? {
          poll_settings: [{ type: 'highest_level', subType: 'combat', value: 100 }],
          poll_public: true,
          votes: {
            total,
            [`question-${pk}`]: { total, ...Object.fromEntries(answers.map(([id], nth) => [id, votes[nth]])) },
          },
        }
      : {}),
  }
}

/** The body of `/publisher/videos/list` at an instant (ms): the newest six; every nine days or so there is another. */
export function videosBody(seed: number, at: number) {
  const every = 9 * day
  const newest = Math.floor((at - firstOfAll) / every)
  const known = Array.from({ length: 7 }, (_, back) => {
    const random = drawsFor(seed, `video ${newest - back}`)
    const since = firstOfAll + (newest - back) * every + between(random, 0, 7 * 24) * 3_600_000
    const address = `https://example.com/videos/${pick(random, adjectives)}-${pick(random, nouns)}-${newest - back}`
    return { since, address }
  })
  const listed = known.filter(({ since }) => since <= at).slice(0, 6)
  return Object.fromEntries(listed.map(({ address }, nth) => [String(nth + 1), address]))
}

/** The body of `/latest-news`: the newest eight; `comments` is a number as text (API reference 3.6) and grows for ten days. */
export function newsBody(seed: number, span: Span) {
  return articles(seed, 'blog', span)
    .slice(0, 8)
    .map(({ summary, text, likes, published }) => ({
      title: summary.title,
      date: summary.published_at,
      forumThread: `https://example.com/threads/${summary.pk}`,
      author: 'sandbox_author',
      content: `<p>${text}</p>`,
      comments: String(Math.floor(likes * Math.min(1, (span.until - published) / (10 * day)))),
    }))
}

function offset(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}+00:00`
}

function zulu(instant: string): string {
  return instant.replace('+00:00', 'Z')
}
