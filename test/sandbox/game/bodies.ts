/** What the tests read of the answers. */

export interface TerritoryBody {
  readonly guild: { readonly uuid: string | null; readonly name: string | null; readonly hq?: string | null }
  readonly acquired: string | null
  readonly hq?: boolean
  readonly resources: readonly Readonly<Record<string, number | string>>[]
  readonly links: readonly string[]
  readonly treasury: string
  readonly defences: string
  readonly location: { readonly start: readonly number[]; readonly end: readonly number[] }
}
export type MapBody = Readonly<Record<string, TerritoryBody>>

export interface MemberBody {
  readonly uuid?: string
  readonly username?: string
  readonly online: boolean
  readonly server: string | null
  readonly lastJoin: string | null
  readonly joined: string
  readonly contributed: number
  readonly weekly?: object
  readonly globalData?: { readonly guildRaids: { readonly total: number }; readonly wars: number }
  readonly restrictions: Readonly<Record<string, boolean>>
}

export interface GuildBody {
  readonly uuid: string
  readonly name: string
  readonly prefix: string | null
  readonly territories: number
  readonly wars: number | null
  readonly online: number
  readonly members: Readonly<Record<string, number | Readonly<Record<string, MemberBody>>>>
  readonly banner: null | { readonly layers: readonly Readonly<Record<string, string>>[] }
  readonly seasonRanks: Readonly<Record<string, { readonly rating: number; readonly finalTerritories: number }>>
}

export interface OnlineBody {
  readonly total: number
  readonly players: Readonly<Record<string, string | null>>
}

export interface ErrorBody {
  readonly error: string
  readonly code: number
  readonly objects?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** All members with their rank, whatever they are keyed by. */
export function membersOf(guild: GuildBody): { key: string; rank: string; member: MemberBody }[] {
  return Object.entries(guild.members).flatMap(([rank, members]) =>
    typeof members === 'number' ? [] : Object.entries(members).map(([key, member]) => ({ key, rank, member })),
  )
}
