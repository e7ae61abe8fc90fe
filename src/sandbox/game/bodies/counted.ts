import { counter } from '../people/counters.ts'
import type { Player } from '../state.ts'

/** Invented; the real game's places have other names. */
const raids = ['Vault of Reeds', 'The Drowned Observatory', 'Thorn Cathedral', 'The Pale Engine']
const dungeons = ['Mossworn Cellars', 'Gullet of Ash', 'Lantern Mine', 'Cold Orchard', 'Broken Aqueduct', 'Silt Palace']

/** A total and what it consists of, spread over names so that no entry ever falls while the total rises. */
function listed(total: number, names: readonly string[]) {
  const entries = names
    .map((name, nth) => [name, Math.floor((total + nth) / names.length)] as const)
    .filter(([, count]) => count > 0)
  return { total, list: Object.fromEntries(entries) }
}

export const listedRaids = (total: number) => listed(total, raids)

export const listedDungeons = (total: number) => listed(total, dungeons)

/** The counters that player and member records share (API reference 6.2, 7.1). */
export function countedTogether(player: Player) {
  return {
    contentCompletion: counter(player, 'contentCompletion'),
    wars: counter(player, 'wars'),
    totalLevel: counter(player, 'totalLevel'),
    mobsKilled: counter(player, 'mobsKilled'),
    chestsFound: counter(player, 'chestsFound'),
    dungeons: listedDungeons(counter(player, 'dungeons')),
    raids: listedRaids(counter(player, 'raids')),
    worldEvents: counter(player, 'worldEvents'),
    lootruns: counter(player, 'lootruns'),
    caves: counter(player, 'caves'),
    completedQuests: counter(player, 'completedQuests'),
    pvp: { kills: counter(player, 'pvpKills'), deaths: counter(player, 'pvpDeaths') },
  }
}

/** Hours with two decimals, as flushed. */
export function playtime(player: Player): number {
  return Math.round(counter(player, 'playtime') * 100) / 100
}
