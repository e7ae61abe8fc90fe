import { transfer } from './guilds/membership.ts'
import { win } from './guilds/wars.ts'
import { setHiding } from './people/presence.ts'
import type { Guild, Player, Realm } from './state.ts'
import { hour, minute, planTick } from './time.ts'

/** How many territories the guilds of a story hold at first. */
export const storyHoldings = [20, 16, 12, 8]

/**
 * Plans three days in which little happens beside what players do: the second guild makes war on the first and takes twelve
 * territories from it, of which the first takes three back; one of the second's members hides the online status; the items are patched; a captain of
 * the first guild goes over to the second.
 */
export function planStory(realm: Realm, patch: (at: number) => void): void {
  const [defender, attacker] = realm.guilds.values()
  if (!attacker || !defender) throw new RangeError('a story needs two guilds')
  const at = (hours: number, play: (now: number) => void) =>
    planTick(realm.events, realm.startedAt + hours * hour, play)
  const player = mostPresent(attacker)
  if (player) at(31.5, (now) => setHiding(realm, player, true, now))
  const targets = [...defender.holdings].slice(0, 12)
  targets.forEach((territory, nth) => {
    at(42 + (nth * 7 * minute) / hour, (now) => win(realm, territory, attacker, now))
    if (nth % 4 === 1) at(45 + (nth * 4 * minute) / hour, (now) => win(realm, territory, defender, now))
  })
  at(46, patch)
  at(54, (now) => {
    const captain = [...defender.members.values()].find(({ rank }) => rank === 'captain')
    if (captain) transfer(realm, captain, attacker, now)
  })
}

/** The member of a guild who plays most without hiding it. */
function mostPresent({ members }: Guild): Player | undefined {
  const playing = ({ habit }: Player) => (habit ? habit.sessionsPerDay * habit.meanLength : 0)
  const shown = [...members.keys()].filter(({ hidesOnline }) => !hidesOnline)
  return shown.sort((one, other) => playing(other) - playing(one))[0]
}
