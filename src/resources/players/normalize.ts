import { type Player, parsePlayer } from '../../api/schemas/people/players.ts'
import { restrictionsOf } from '../../api/schemas/people/restrictions.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { type IgnoredInstant, type Normalized, notAfter, type ResponseContext, type Row } from '../../sync/resource.ts'
import { numbersIn } from '../record.ts'
import { charactersOf } from './characters.ts'
import type { playerHistory } from './tables.ts'

/**
 * One player's whole answer into rows (API reference 7.1): who they are and their characters as history, everything
 * counted as samples. A group that is hidden is not sent and gives no sample: it is not zero.
 */
export function normalizePlayer(record: unknown, context?: ResponseContext): Normalized<typeof playerHistory> {
  const player = parsePlayer(record)
  const ignored: IgnoredInstant[] = []
  const lastJoin = notAfter(player.lastJoin, context, ignored, { field: 'lastJoin' })
  const { online: _o, server: _s, activeCharacter: _a, lastJoin: _l, characters: _c, ...lasting } = player
  // Numbers that move, and what a player shows of them, are no version of the player.
  const {
    ranking,
    previousRanking: _p,
    playtime,
    globalData,
    featuredStats: _f,
    restrictions: _r,
    ...profile
  } = lasting
  const playerUuid = player.uuid.toLowerCase()
  const restricted = restrictionsOf(player)
  const characters = charactersOf(playerUuid, player.characters, restricted)
  // Postgres prints it so: another spelling is no other guild.
  const guild = player.guild && {
    ...player.guild,
    ...(player.guild.uuid ? { uuid: player.guild.uuid.toLowerCase() } : {}),
  }
  const colour = player.legacyRankColour
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
      username: player.username,
      nickname: player.nickname,
      rank: player.rank,
      rankBadge: player.rankBadge,
      shortenedRank: player.shortenedRank,
      supportRank: player.supportRank,
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
      status: [statusOf(playerUuid, { ...player, lastJoin }, restricted)],
      counters: numbersIn({ playtime, ...globalData }).map(([counter, value]) => ({ playerUuid, counter, value })),
      rankings: Object.entries(ranking ?? {}).flatMap(([board, position]) =>
        position === null || position === undefined ? [] : [{ playerUuid, board, position }],
      ),
      ...characters.samples,
    },
    ignored,
    quarantined: characters.quarantined,
  }
}

/** `online: false` of a player who hides it means nothing, nor does `lastJoin`, which is then frozen or missing (API reference 7.3). */
function statusOf(playerUuid: string, player: Player, restricted: readonly string[]): Row {
  const { online, server, lastJoin, activeCharacter } = player
  if (restricted.includes('onlineStatus') || typeof online !== 'boolean') return { playerUuid }
  return { playerUuid, online, world: server || null, lastJoin, activeCharacter }
}
