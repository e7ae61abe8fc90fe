import type { Random } from '../../../base/clock.ts'
import { between, chance, pick } from '../../generator/draw.ts'
import type { Habit, Player, Realm } from '../state.ts'
import { day, minute } from '../time.ts'
import { firstCounters, keepRise } from './counters.ts'

/**
 * Adds one person to the realm.
 * @param active false for a player who stopped long ago
 * @param member whether a guild takes them in at once, so that contributions exist
 */
export function createPlayer(realm: Realm, active: boolean, member: boolean): Player {
  const { random } = realm
  const firstJoin = realm.startedAt - Math.floor((0.02 + random()) * 3000 * day)
  const hours = active ? 10 + 2500 * random() ** 2 : 200 * random() ** 2
  const lastJoin = chance(random, 0.02)
    ? null
    : Math.floor(realm.startedAt - (active ? day + 6 * day * random() : (realm.startedAt - firstJoin) * random()))
  const hidesOnline = chance(random, 0.07)
  const player: Player = {
    uuid: realm.names.uuid(),
    username: realm.names.username(),
    habit: active && !chance(random, 0.12) ? drawHabit(random) : null,
    firstJoin,
    lastJoin,
    shownLastJoin: hidesOnline && chance(random, 0.5) ? null : lastJoin,
    membership: null,
    session: null,
    hidesOnline,
    hidesMain: chance(random, 0.08),
    hidesCharacterList: chance(random, 0.04),
    hidesCharacterNumbers: chance(random, 0.06),
    hidesBuild: chance(random, 0.15),
    counters: firstCounters(random, hours, member),
    rises: [],
    flushedAt: 0,
    warsPending: 0,
    salt: Math.floor(random() * 2 ** 32),
  }
  realm.players.set(player.uuid, player)
  realm.people.push(player)
  keepRise(player, Math.min(realm.startedAt - day, lastJoin ?? firstJoin))
  for (const rule of ['onlineStatus', 'mainAccess'] as const)
    if (rule === 'onlineStatus' ? player.hidesOnline : player.hidesMain)
      realm.log.privacy.push({ player: player.uuid, at: realm.startedAt - day, rule, restricted: true })
  return player
}

function drawHabit(random: Random): Habit {
  const region = pick(random, ['EU', 'EU', 'EU', 'NA', 'NA', 'NA', 'NA', 'AS'])
  const peak = { EU: 19, NA: 1, AS: 12 }[region] ?? 19
  return {
    sessionsPerDay: 0.2 + 4.6 * random() ** 2,
    meanLength: (20 + 120 * random() ** 1.5) * minute,
    peak: peak + between(random, -4, 4),
    region,
    drive: 0.2 + 1.6 * random(),
  }
}
