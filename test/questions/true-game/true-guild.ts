import type { Member } from '../../support/membership-changes.ts'
import { changesBetween } from '../../support/membership-changes.ts'
import type { Played } from './played.ts'
import type { TruePeople } from './true-people.ts'

/** What one answer about a guild could show of its members; nobody where the guild is no more. */
export interface GuildAnswer {
  readonly at: Date
  readonly members: Map<string, Member>
}

/** One change of a membership, as two answers show it. */
export interface SeenChange {
  readonly event: string
  /** When it happened as far as it can be known, and when it was seen; ms. */
  readonly at: number
  readonly seenAt: number
  readonly player: string
  readonly from: string
  readonly to: string
}

/**
 * What the answers about a guild said of its members, by true history.
 * @param counter what `contributed` stands for: a counter of the game, as it was flushed when the answer was made
 */
export function answersAbout(
  { accepted, gone, game }: Pick<Played, 'accepted' | 'gone' | 'game'>,
  people: TruePeople,
  guild: string,
  counter: (player: string, at: number) => number | undefined = (player, at) =>
    game.counterAt(player, 'contributed', at),
): GuildAnswer[] {
  const shown = accepted.guilds
    .filter(({ key }) => key === guild)
    .map(({ at }) => {
      const members = people.membersAt(guild, at).flatMap((stay): [string, Member][] => {
        const contributed = counter(stay.player, at)
        const known = {
          rank: people.rankAt(stay, at),
          username: people.usernameAt(stay.player, at),
          joined: new Date(stay.joined).toISOString(),
        }
        return contributed === undefined ? [] : [[stay.player, { ...known, contributed }]]
      })
      return { at: new Date(at), members: new Map(members) }
    })
  const [first] = shown
  const none = gone.filter(({ key, at }) => key === guild && first && at > first.at.getTime())
  const empty = none.map(({ at }) => ({ at: new Date(at), members: new Map<string, Member>() }))
  return [...shown, ...empty].sort((a, b) => a.at.getTime() - b.at.getTime())
}

/** Every change that two answers in a row show. Who is missing from the last one may still be there. */
export function changesIn(answers: readonly GuildAnswer[]): SeenChange[] {
  return answers.flatMap(({ at, members }, nth) => {
    const before = answers[nth - 1]
    if (!before) return []
    return changesBetween(before.members, members, at.toISOString()).flatMap((change): SeenChange[] => {
      const [event = '', , player = '', from = '', to = ''] = change
      if (event === 'renamed' || (event === 'left' && nth === answers.length - 1 && !members.has(player))) return []
      const joined = Date.parse(members.get(player)?.joined ?? '')
      // Who came back between two answers had left by then.
      const happened = event === 'joined' || (event === 'left' && members.has(player)) ? joined : at.getTime()
      return [{ event, at: happened, seenAt: at.getTime(), player, from, to }]
    })
  })
}
