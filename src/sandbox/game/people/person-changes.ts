import { chance, pick } from '../../generator/draw.ts'
import type { Player, Realm } from '../state.ts'
import { hour, minute, recurring, waiting } from '../time.ts'
import { setHiding } from './presence.ts'

/** Plans what players do to their own record: hide and show themselves, take another name. */
export function planPersonChanges(realm: Realm, from: number): void {
  const { events, random, log } = realm
  const again = (mean: number, play: (player: Player, at: number) => void) => {
    const next = (at: number) => {
      play(drawSomebody(realm), at)
      events.plan(at + waiting(random, mean), next)
    }
    events.plan(from + waiting(random, mean), next)
  }
  again(25 * minute, (player, at) => setHiding(realm, player, chance(random, 0.08), at))
  again(40 * minute, (player, at) => {
    // Those who hide now and then are online when they do it.
    const target = realm.online.size > 0 ? pick(random, [...realm.online]) : player
    setHiding(realm, target, !target.hidesOnline, at)
    events.plan(at + waiting(random, 2 * hour), (then) => setHiding(realm, target, chance(random, 0.08), then))
  })
  again(2 * hour, (player, at) => {
    const restricted = chance(random, 0.3)
    if (player.hidesMain === restricted) return
    player.hidesMain = restricted
    log.privacy.push({ player: player.uuid, at, rule: 'mainAccess', restricted })
  })
  recurring(realm, 10 * hour, 12 * hour, (at) => {
    const player = drawSomebody(realm)
    const former = player.username
    player.username = realm.names.username()
    log.playerRenames.push({ player: player.uuid, at, from: former, to: player.username })
  })
}

function drawSomebody(realm: Realm): Player {
  return pick(realm.random, realm.online.size > 0 && chance(realm.random, 0.5) ? [...realm.online] : realm.people)
}
