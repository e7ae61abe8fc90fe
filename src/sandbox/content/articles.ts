import { between, chance, drawsFor, pick } from '../generator/draw.ts'
import { adjectives, nouns, sentences, titled } from '../generator/words.ts'

/** The kinds of articles there are (API reference 3.6). */
export const articleTypes = ['blog', 'event', 'giveaway', 'article', 'poll'] as const
/** One of `articleTypes`. */
export type ArticleType = (typeof articleTypes)[number]

const day = 86_400_000

/** An article as the list shows it, and everything else that its own page shows. */
export type Article = ReturnType<typeof articles>[number]

/**
 * All articles of one type, newest first (API reference 8).
 * @param before the newest was published before this instant (ms)
 */
export function articles(seed: number, type: ArticleType, before: number) {
  const random = drawsFor(seed, `articles ${type}`)
  const count = between(random, 8, 50)
  return Array.from({ length: count }, (_, nth) => {
    const begins = Math.floor((before - (nth * 6 + 1 + random() * 4) * day) / 60_000) * 60_000
    const ends = type === 'blog' || type === 'article' ? null : begins + between(random, 3, 14) * day
    const pk = 100 + (count - nth) * articleTypes.length + articleTypes.indexOf(type)
    const title = `The ${titled(pick(random, adjectives), pick(random, nouns))}`
    return {
      summary: {
        pk,
        title,
        type,
        banner: `${type}/banner/${title.toLowerCase().replaceAll(' ', '-')}.png`,
        banner_zoom: chance(random, 0.5),
        recap: pick(random, sentences),
        visible: true,
        start_date: offset(begins),
        end_date: ends === null ? null : offset(ends),
        pinned: nth === 0,
        has_content: true,
        published_at: offset(begins + between(random, 1, 9) * 60_000),
      },
      text: pick(random, sentences),
      likes: between(random, 0, 400),
      votes: Array.from({ length: between(random, 2, 5) }, () => between(random, 0, 90)),
    }
  })
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

/** The body of `/publisher/videos/list`. */
export function videosBody(seed: number) {
  const random = drawsFor(seed, 'videos')
  return Object.fromEntries(
    Array.from({ length: 6 }, (_, nth) => [
      String(nth + 1),
      `https://example.com/videos/${pick(random, adjectives)}-${pick(random, nouns)}`,
    ]),
  )
}

/** The body of `/latest-news`; `comments` is a number as text (API reference 3.6). */
export function newsBody(seed: number, before: number) {
  const random = drawsFor(seed, 'news')
  return articles(seed, 'blog', before)
    .slice(0, 8)
    .map(({ summary, text }) => ({
      title: summary.title,
      date: summary.published_at,
      forumThread: `https://example.com/threads/${summary.pk}`,
      author: 'sandbox_author',
      content: `<p>${text}</p>`,
      comments: String(between(random, 0, 250)),
    }))
}

function offset(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}+00:00`
}

function zulu(instant: string): string {
  return instant.replace('+00:00', 'Z')
}
