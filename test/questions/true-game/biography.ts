import { expect, test } from 'vitest'
import type { Played } from './played.ts'
import { plain } from './rows.ts'
import { TruePeople } from './true-people.ts'

/** Question 12: who a player was. */
export function questionsOfBiographies(of: () => Played): void {
  test('12: the names, guilds and ranks of a player', async () => {
    const played = of()
    const { db } = played
    const people = new TruePeople(played)
    const names = namesOf(played)
    for (const player of played.players) {
      const expected: unknown[][] = []
      const asked = played.accepted.players.filter(({ key }) => key === player)
      // Whose profile never came is known from guilds alone.
      if (asked.length === 0) continue
      for (const { at } of asked) {
        const stay = people.stayAt(player, at)
        const guild = stay ? [stay.guild, names(stay.guild, at), people.rankAt(stay, at)] : [null, null, null]
        const told = [people.usernameAt(player, at), ...guild]
        const last = expected.at(-1)
        if (last && String(last.slice(2)) === String(told)) continue
        if (last) last[1] = new Date(at).toISOString()
        expected.push([new Date(at).toISOString(), null, ...told])
      }
      const rows = await db.values(
        `select valid_from, valid_until, username, guild_uuid::text, guild_name, guild_rank
           from analytics.player_biography($1)`,
        [player],
      )
      expect(plain(rows)).toEqual(expected)
    }
  })
}

function namesOf({ first, history }: Played) {
  return (guild: string, at: number) =>
    history.guilds.findLast((one) => one.guild === guild && Date.parse(one.at) <= at)?.name ??
    first.guilds.get(guild)?.name ??
    null
}
