/** Who was on which place of a board in one response, which speaks for `at` (ms since the epoch). */
export interface Board {
  readonly type: string
  readonly at: number
  readonly places: readonly Place[]
}

interface Place {
  readonly place: number
  /** Null: of a player who hides. */
  readonly name: string | null
  readonly uuid: string | null
  readonly score: number
}

interface Entry {
  readonly uuid: string
  readonly name: string
  readonly score?: number
  readonly level: number
  readonly territories: number
}

/** Asks for a board as it stands in the copy that was synced. */
export async function readBoard(url: string, type: string): Promise<Board> {
  const response = await fetch(`${url}/leaderboards/${type}`)
  const body = (await response.json()) as Record<string, Entry>
  const maxAge = Number(/max-age=(\d+)/.exec(response.headers.get('cache-control') ?? '')?.[1])
  const places = Object.entries(body).map(([place, { uuid, name, score, level, territories }]) => ({
    place: Number(place),
    name: name === 'redacted' ? null : name,
    uuid: uuid === 'redacted' ? null : uuid,
    score: score ?? (type === 'guildTerritories' ? territories : level),
  }))
  return { type, at: Date.parse(response.headers.get('expires') ?? '') - maxAge * 1000, places }
}

/** A step of one entity on a board: place and score are null when it is off the board. */
export interface Step {
  readonly at: number
  readonly place: number | null
  readonly score: number | null
  readonly delta: number | null
}

/** The responses about one board, in order of time; what one of them alone lacks at the end is as it was before. */
export function settled(boards: readonly Board[]): Board[] {
  return boards.map((board, nth) => {
    const before = boards[nth - 1]?.places ?? []
    const next = boards[nth + 1]?.places ?? before
    return { ...board, places: [...board.places, ...before.slice(board.places.length, next.length)] }
  })
}

/** How an entity moved on a board, from the settled responses. */
export function stepsOf(uuid: string, boards: readonly Board[]): Step[] {
  const steps: Step[] = []
  let known: number | null = null
  for (const { at, places } of boards) {
    const { place = null, score = null } = places.find((one) => one.uuid === uuid) ?? {}
    const last = steps.at(-1)
    if (last ? last.place === place && last.score === score : place === null) continue
    steps.push({ at, place, score, delta: score === null || known === null ? null : score - known })
    known = score ?? known
  }
  return steps
}
