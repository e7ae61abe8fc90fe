import { articles, articleTypes, newsBody, videosBody } from '../../../src/sandbox/content/articles.ts'

/** What is known of something published: instants are of responses, ms since the epoch. */
export interface Known {
  readonly kind: string
  readonly key: string
  title: string | null
  publishedAt: number | null
  editedAt: number | null
  removedAt: number | null
}

interface Listed extends Pick<Known, 'kind' | 'key' | 'title' | 'publishedAt'> {
  /** Everything that an edit can change. */
  readonly text: string
}

/** What responses at these instants told of a list: gone is what two of them lacked, from the first of these on. */
export function knownFrom(polls: readonly number[], listAt: (at: number) => readonly Listed[]): Known[] {
  const all = new Map<string, Known & { text: string; missedAt: number | null }>()
  for (const at of polls) {
    const listed = new Map(listAt(at).map((one) => [one.key, one]))
    for (const [key, { text, kind, title, publishedAt }] of listed) {
      const { editedAt = null, text: before = text } = all.get(key) ?? {}
      const fresh = { removedAt: null, missedAt: null, editedAt: text === before ? editedAt : at }
      all.set(key, { kind, key, title, publishedAt, text, ...fresh })
    }
    for (const one of all.values()) {
      if (listed.has(one.key)) continue
      one.removedAt ??= one.missedAt
      one.missedAt ??= at
    }
  }
  return [...all.values()].map(({ text: _, missedAt: __, ...known }) => known)
}

/** What is listed at an instant, by the resource that asks for it. */
export function listsOf(seed: number, from: number): Record<string, (at: number) => Listed[]> {
  return {
    articles: (until) =>
      articleTypes.flatMap((kind) =>
        articles(seed, kind, { from, until }).map(({ summary: { pinned: _, visible: __, ...shown }, published }) => ({
          kind,
          key: String(shown.pk),
          title: shown.title,
          publishedAt: published,
          text: JSON.stringify(shown),
        })),
      ),
    'latest-news': (until) =>
      newsBody(seed, { from, until }).map(({ comments: _, ...shown }) => ({
        kind: 'news',
        key: shown.forumThread,
        title: shown.title,
        publishedAt: Date.parse(shown.date),
        text: JSON.stringify(shown),
      })),
    videos: (until) =>
      Object.values(videosBody(seed, until)).map((key) => ({
        kind: 'video',
        key,
        title: null,
        publishedAt: null,
        text: '',
      })),
  }
}
