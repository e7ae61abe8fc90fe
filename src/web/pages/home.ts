import { html } from 'hono/html'
import { type Figure, listFigure, missing } from '../../analytics/report/drawing/figure.ts'
import { observedOf } from '../../analytics/report/drawing/frame.ts'
import { freshnessFigure } from '../../analytics/report/freshness/freshness.ts'
import { lastPatch, patchText } from '../../analytics/report/patch/patch-changes.ts'
import { count, length, moment } from '../../analytics/report/words.ts'
import { guildLink, link } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { captureTable, latestCaptures } from './captures.ts'

const DAY = 86_400_000

/** `/`: what happened lately, who is online, and how fresh all is. */
export async function homePage(visit: Visit): Promise<Page> {
  const { sql, now, people } = visit
  const [moves, captures, patch, captured, players, freshness] = await Promise.all([
    people ? movesFigure(visit) : undefined,
    capturesFigure(visit),
    patchFigure(visit),
    capturesText(visit),
    playersText(visit),
    freshnessFigure(sql, now),
  ])
  return {
    path: '/',
    feed: '/feeds/captures.atom',
    title: `${captured}, ${players}`,
    lead: 'What happened lately in Wynncraft, from the kept history of its public web API.',
    control: html`<form action="/map"><label>Map at <input name="at" placeholder="2026-05-01T20:00Z, -1d"></label><button>Show</button></form>`,
    chapters: [
      chapterOf('lately', 'Lately', captures, ...(moves ? [moves] : []), patch),
      chapterOf('completeness', 'How complete this is', freshness),
    ],
  }
}

/** What is older is not called now, ms: some polls may fail. */
const RECENT = 3_600_000

/** Captures of a day, up to the last time that the map was seen: of what was not watched nothing is counted as zero. */
async function capturesText({ sql, now }: Visit): Promise<string> {
  const seen = await observedOf(sql, 'territories')
  if (!seen) return 'The map was not seen yet'
  const isRecent = now.getTime() - seen.last.getTime() < RECENT
  const to = isRecent ? now : seen.last
  const from = new Date(Math.max(to.getTime() - DAY, seen.first.getTime()))
  const [row] = await sql.query<{ captures: number }>(
    'select count(*)::int as captures from analytics.territory_capture where captured_at >= $1 and captured_at <= $2',
    [from, to],
  )
  const span = to.getTime() - from.getTime()
  const time = span < DAY - RECENT ? length(span / 1000) : 'day'
  return `${count(row?.captures ?? 0, 'capture')} in the ${isRecent ? `last ${time}` : `${time} before ${moment(to)}`}`
}

async function playersText({ sql, now }: Visit): Promise<string> {
  const seen = await observedOf(sql, 'online-players')
  if (!seen) return 'players online unknown'
  const [row] = await sql.query<{ players: number | null; worlds: number }>(
    'select sum(online)::int as players, count(*)::int as worlds from analytics.world',
  )
  const { players, worlds } = row ?? { players: null, worlds: 0 }
  if (players === null) return 'players online unknown'
  const when = now.getTime() - seen.last.getTime() < RECENT ? '' : ` on ${moment(seen.last)}`
  return `${count(players, 'player')} listed online on ${count(worlds, 'world')}${when}`
}

async function capturesFigure({ sql }: Visit): Promise<Figure> {
  const captures = await latestCaptures(sql, {}, 20)
  const [last] = captures
  if (!last) return missing('captures', 'No capture was seen yet', 'wynnsync sync territories')
  return listFigure('captures', `${last.to} took ${last.territory} on ${moment(last.at)}`, captureTable(captures))
}

interface Move {
  readonly at: Date
  readonly event: string
  readonly username: string | null
  readonly player: string
  readonly guild: string
  readonly name: string | null
  readonly rank: string | null
  /** The guild that a joiner came from, or a leaver went to, and its name. */
  readonly other: string | null
  readonly otherName: string | null
}

/** In how many changes of members the latest moves are searched: first few, since all of years take long. */
const CHANGES = [100, 1000, 2 ** 31 - 1]
const MOVES = 20

async function latestMoves({ sql }: Visit): Promise<Move[]> {
  let moves: Move[] = []
  for (const changes of CHANGES) {
    // A change of sides has three rows.
    const rows = await sql.query<Move>(
      `with latest as (select * from analytics.membership_event_latest($1) order by at desc limit ${3 * MOVES})
       select at, event, username, player_uuid::text as player, latest.guild_uuid::text as guild, guild_name as name,
              coalesce(to_rank, from_rank) as rank, other_guild_uuid::text as other, former.name as "otherName"
         from latest
         left join lateral (select guild.name from analytics.guild where latest.event = 'transferred'
                               and guild.guild_uuid = latest.other_guild_uuid) former on true
        order by at desc, event collate "C" desc`,
      [changes],
    )
    moves = withTransfersOnce(rows).slice(0, MOVES)
    if (moves.length === MOVES) break
  }
  return moves
}

/** The moves without the join of each transfer, and without the leave that is nearest in time. */
function withTransfersOnce(moves: readonly Move[]): Move[] {
  const parts = new Set<Move>()
  for (const transfer of moves.filter(({ event }) => event === 'transferred')) {
    const distance = ({ at }: Move) => Math.abs(at.getTime() - transfer.at.getTime())
    const own = moves.filter((one) => one.player === transfer.player && !parts.has(one))
    const joined = own.find((one) => one.event === 'joined' && one.guild === transfer.guild && distance(one) === 0)
    const [left] = own
      .filter((one) => one.event === 'left' && one.guild === transfer.other && one.other === transfer.guild)
      .sort((one, another) => distance(one) - distance(another))
    for (const part of [joined, left]) if (part) parts.add(part)
  }
  return moves.filter((one) => !parts.has(one))
}

async function movesFigure(visit: Visit): Promise<Figure> {
  const moves = await latestMoves(visit)
  const [last] = moves
  if (!last) return missing('moves', 'No join, leave or change of rank was observed', 'wynnsync sync guilds')
  return listFigure('moves', moveTitle(last), {
    columns: ['At (UTC)', 'Player', 'What', 'Guild', 'Rank'],
    rows: moves.map(({ at, event, username, player, guild, name, rank, other, otherName }) => [
      ...[at, link('players', player, username ?? player)],
      event === 'transferred' && other !== null ? html`transferred from ${guildLink(other, otherName)}` : event,
      ...[guildLink(guild, name), rank ?? ''],
    ]),
  })
}

function moveTitle({ username, event, name, otherName }: Move): string {
  const guild = name ?? 'a guild'
  const what: Readonly<Record<string, string>> = {
    joined: `joined ${guild}`,
    left: `left ${guild}`,
    transferred: `transferred from ${otherName ?? 'another guild'} to ${guild}`,
  }
  return `${username ?? 'A player'} ${what[event] ?? `${event} in ${guild}`}`
}

async function patchFigure({ sql, now }: Visit): Promise<Figure> {
  const patch = await lastPatch(sql, now)
  if (!patch) return missing('patch', 'No patch was seen yet', 'wynnsync sync items recipes')
  return {
    id: 'patch',
    title: `The last patch: ${patchText(patch)}`,
    lead: html`First seen ${moment(patch.startedAt)} UTC: ${link('patches', String(patch.patch), `patch ${patch.patch}`)}`,
  }
}
