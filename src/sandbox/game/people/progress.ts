import { chance, weights } from '../../generator/draw.ts'
import type { Player, Realm } from '../state.ts'
import { hour, waiting } from '../time.ts'
import { type CounterName, keepRise, raise } from './counters.ts'

/** What playing an hour raises on average. */
const rates = Object.entries(
  weights(
    'mobsKilled:200 chestsFound:2 dungeons:0.2 worldEvents:0.2 lootruns:0.3 caves:0.03 completedQuests:0.05 ' +
      'contentCompletion:0.3 totalLevel:0.4 pvpDeaths:0.02 pvpKills:0.02',
  ),
) as [CounterName, number][]

/** Brings a player's counters up to what was played since the last flush. */
export function flush(realm: Realm, player: Player, at: number): void {
  const { random } = realm
  const hours = Math.min(6, (at - player.flushedAt) / hour)
  const amount = hours * (player.habit?.drive ?? 1)
  /** A whole number whose mean is `mean`. */
  const drawn = (mean: number) => Math.floor(mean * 2 * random() + random())

  raise(player, 'playtime', hours)
  for (const [name, hourly] of rates) raise(player, name, drawn(amount * hourly))
  raise(player, 'wars', player.warsPending)
  player.warsPending = 0
  const alone = drawn(amount * 0.3)
  const withGuild = player.membership ? drawn(amount * 0.6) : 0
  raise(player, 'raids', alone + withGuild)
  raise(player, 'guildRaids', withGuild)
  if (player.membership) contribute(realm, player, amount, withGuild)
  player.flushedAt = at
  keepRise(player, at)
}

function contribute(realm: Realm, player: Player, amount: number, guildRaids: number): void {
  const guild = player.membership?.guild
  if (!guild) return
  const { random } = realm
  raise(player, 'currentGuildRaids', guildRaids)
  const given = chance(random, 0.35) ? 0 : Math.floor(amount * waiting(random, 4e8))
  // Seen now and then without a visible reason: a counter that falls a little.
  raise(player, 'contributed', chance(random, 0.0005) ? -Math.floor(random() * 1e6) : given)
  if (chance(random, guildRaids / 4)) guild.raids += 1
  guild.xpPercent += given / 4e9
  if (guild.xpPercent >= 100) {
    guild.xpPercent = 0
    guild.level += 1
  }
}
