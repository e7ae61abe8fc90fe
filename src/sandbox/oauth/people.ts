import { digestOf } from './tokens.ts'

/** What identity routes tell of a player (API reference 7.5). */
interface Identity {
  readonly username: string
  readonly online: boolean
  readonly nickname: string | null
  readonly rank: string
  readonly supportRank: string | null
  readonly shortenedRank: string | null
  readonly legacyRankColour: { readonly main: string; readonly sub: string } | null
  readonly rankBadge: string | null
}

/** An identity and who may see what of this player, by rule in snake_case. */
interface OwnProfile {
  readonly identity: Identity
  readonly accessRules: Readonly<Record<string, string>>
}

/** The players who can own a credential. */
export interface People {
  /** The uuid of exactly one player of this uuid or name, whatever its case. */
  find(asked: string): string | undefined
  /** The uuid of a player, the same one for the same key. */
  anyone(key: string): string
  /** Undefined for an unknown uuid. `now` is ms of the sandbox clock. */
  profile(uuid: string, now: number): OwnProfile | undefined
}

/** People for a sandbox without a game: everybody who is named exists, invented from the name. */
export function inventedPeople(): People {
  const names = new Map<string, string>()
  const invent = (name: string) => {
    const uuid = uuidFrom(digestOf(name.toLowerCase()))
    if (!names.has(uuid)) names.set(uuid, name)
    return uuid
  }
  return {
    find: (asked) => {
      if (names.has(asked.toLowerCase())) return asked.toLowerCase()
      return /^\w{3,16}$/.test(asked) ? invent(asked) : undefined
    },
    anyone: (key) => invent(key === '' ? 'Sandbox_Player' : `Player_${digestOf(key).slice(0, 8)}`),
    profile: (uuid) => {
      const username = names.get(uuid)
      if (username === undefined) return undefined
      return {
        identity: {
          username,
          online: false,
          nickname: null,
          rank: 'Player',
          supportRank: null,
          shortenedRank: null,
          legacyRankColour: null,
          rankBadge: null,
        },
        accessRules: { main_access: 'public', online_status: 'public' },
      }
    },
  }
}

/** Makes hex digits look like a random uuid (version 4). */
function uuidFrom(digits: string): string {
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5')
}
