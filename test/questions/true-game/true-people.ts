import type { GameHistory } from '../../../src/sandbox/index.ts'
import type { Played } from './played.ts'

const never = Number.POSITIVE_INFINITY
const ms = (text: string) => Date.parse(text)

/** One stay in a guild; ms since the epoch. */
export interface Stay {
  readonly guild: string
  readonly player: string
  readonly joined: number
  until: number
  /** From when on under which rank. */
  readonly ranks: { readonly at: number; readonly rank: string }[]
}

/** One time online; ms since the epoch. */
export interface Online {
  readonly login: number
  readonly logout: number
}

/** What is true of people: where they belong, when they are online, what they are called and what they hide. */
export class TruePeople {
  readonly stays = new Map<string, Stay[]>()
  readonly sessions = new Map<string, Online[]>()
  private readonly rules = new Map<string, { readonly at: number; readonly restricted: boolean }[]>()
  private readonly renames = new Map<string, { readonly at: number; readonly to: string }[]>()
  private readonly played: Pick<Played, 'history' | 'first'>

  constructor(played: Pick<Played, 'history' | 'first'>) {
    this.played = played
    const { memberships, sessions, privacy, playerRenames } = played.history
    for (const change of memberships) this.move(change)
    for (const { player, login, logout } of sessions)
      push(this.sessions, player, { login: ms(login), logout: logout === null ? never : ms(logout) })
    for (const { player, rule, at, restricted } of privacy)
      push(this.rules, `${player} ${rule}`, { at: ms(at), restricted })
    for (const { player, at, to } of playerRenames) push(this.renames, player, { at: ms(at), to })
  }

  private move({ guild, player, at, event, toRank, otherGuild }: GameHistory['memberships'][number]): void {
    const last = this.stays.get(player)?.at(-1)
    if (event === 'left' || event === 'transferred') {
      if (last && last.guild === (otherGuild ?? guild)) last.until = ms(at)
    }
    if (event === 'joined' || event === 'transferred')
      push(this.stays, player, {
        guild,
        player,
        joined: ms(at),
        until: never,
        ranks: [{ at: ms(at), rank: toRank ?? '' }],
      })
    else if (event !== 'left' && last) last.ranks.push({ at: ms(at), rank: toRank ?? '' })
  }

  stayAt(player: string, at: number): Stay | undefined {
    return this.stays.get(player)?.find((stay) => stay.joined <= at && at < stay.until)
  }

  membersAt(guild: string, at: number): Stay[] {
    return [...this.stays.values()].flatMap((stays) =>
      stays.filter((stay) => stay.guild === guild && stay.joined <= at && at < stay.until),
    )
  }

  rankAt(stay: Stay, at: number): string {
    return stay.ranks.findLast((one) => one.at <= at)?.rank ?? ''
  }

  usernameAt(player: string, at: number): string {
    const renamed = this.renames.get(player)?.findLast((one) => one.at <= at)
    return renamed?.to ?? this.played.first.usernames.get(player) ?? ''
  }

  isOnline(player: string, at: number): boolean {
    return this.sessions.get(player)?.some(({ login, logout }) => login <= at && at < logout) ?? false
  }

  lastJoin(player: string, at: number): number | null {
    const login = this.sessions.get(player)?.findLast((one) => one.login <= at)?.login
    return login ?? this.played.first.lastJoin.get(player) ?? null
  }

  hides(player: string, rule: 'onlineStatus' | 'mainAccess', at: number): boolean {
    return this.rules.get(`${player} ${rule}`)?.findLast((one) => one.at <= at)?.restricted ?? false
  }

  everHid(player: string, rule: 'onlineStatus' | 'mainAccess', until: number): boolean {
    return this.rules.get(`${player} ${rule}`)?.some((one) => one.restricted && one.at <= until) ?? false
  }
}

function push<T>(lists: Map<string, T[]>, key: string, one: T): void {
  const list = lists.get(key)
  if (list) list.push(one)
  else lists.set(key, [one])
}
