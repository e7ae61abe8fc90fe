import { uuidText } from '../../api/schemas/form/limits.ts'
import { type Player, parsePlayer } from '../../api/schemas/people/players.ts'
import { readRestrictions } from '../../api/schemas/people/restrictions.ts'
import {
  type IgnoredInstant,
  type Normalized,
  notAfter,
  type ResponseContext,
  type Row,
} from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { numbersIn, omit, readableOf } from '../record.ts'
import { charactersOf } from './characters.ts'
import type { playerHistory } from './tables.ts'

/**
 * One player's whole answer into rows (API reference 7.1): who they are and their characters as history, everything
 * counted as samples. A group that is hidden is not sent and gives no sample: it is not zero.
 */
export function normalizePlayer(record: unknown, context?: ResponseContext): Normalized<typeof playerHistory> {
  const { value: player, odd, hasAll } = readableOf(record, parsePlayer, ['uuid'])
  const ignored: IgnoredInstant[] = []
  const lastJoin = notAfter(player.lastJoin, context, ignored, { field: 'lastJoin' })
  const lasting = omit(player, 'online', 'server', 'activeCharacter', 'lastJoin', 'characters')
  // Numbers that move, and what a player shows of them, are no version of the player.
  const shown = omit(lasting, 'previousRanking', 'featuredStats', 'restrictions')
  const { ranking, playtime, globalData, ...profile } = shown
  const playerUuid = uuidText(player.uuid)
  const { names: restricted, odd: oddRules } = readRestrictions(player)
  const characters = charactersOf(playerUuid, player.characters, restricted)
  // Postgres prints it so: another spelling is no other guild.
  const guild = player.guild && {
    ...player.guild,
    ...(player.guild.uuid ? { uuid: uuidText(player.guild.uuid) } : {}),
  }
  const colour = player.legacyRankColour
  const { username, nickname, rank, rankBadge, shortenedRank, supportRank } = player
  const named = { username, nickname, rank, rankBadge, shortenedRank, supportRank }
  return {
    key: playerUuid,
    document: {
      ...profile,
      ...(guild === undefined ? {} : { guild }),
      uuid: playerUuid,
      restrictions: restricted,
    } as Json,
    root: {
      playerUuid,
      ...named,
      rankColour: typeof colour === 'string' ? colour : colour?.main,
      rankColourSub: typeof colour === 'string' ? null : colour?.sub,
      veteran: player.veteran,
      firstJoin: player.firstJoin,
      guildUuid: guild?.uuid,
      guildName: guild?.name,
      guildPrefix: guild?.prefix,
      guildRank: guild?.rank,
      guildRankStars: guild?.rankStars,
      wallpaper: player.wallpaper,
      avatar: player.avatar,
      restricted,
    },
    parts: {},
    relatedEntities: { characters: characters.entities },
    // Hidden characters are not sent, so one that is missing may still be there.
    ...(characters.complete ? {} : { incomplete: ['characters'] }),
    samples: {
      // What cannot be read is not null.
      status: hasAll('online', 'server', 'lastJoin', 'activeCharacter')
        ? [statusOf(playerUuid, { ...player, lastJoin }, restricted)]
        : [],
      counters: numbersIn({ playtime, ...globalData }).map(([counter, value]) => ({ playerUuid, counter, value })),
      rankings: Object.entries(ranking ?? {}).flatMap(([board, position]) =>
        position === null || position === undefined ? [] : [{ playerUuid, board, position }],
      ),
      ...characters.samples,
    },
    ignored,
    odd: [...odd, ...oddRules],
    quarantined: characters.quarantined,
  }
}

/** `online: false` of a player who hides it means nothing, nor does `lastJoin`, which is then frozen or missing (API reference 7.3). */
function statusOf(playerUuid: string, player: Player, restricted: readonly string[]): Row {
  const { online, server, lastJoin, activeCharacter } = player
  if (restricted.includes('onlineStatus') || typeof online !== 'boolean') return { playerUuid }
  return {
    playerUuid,
    online,
    world: server || null,
    lastJoin,
    activeCharacter: activeCharacter && uuidText(activeCharacter),
  }
}
