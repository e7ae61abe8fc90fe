import { seededRandom } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { type BackfillResult, walkBackfill } from '../../src/sync/backfill/backfill.ts'
import {
  beginCampaign,
  type Campaign,
  countOpen,
  freeLeases,
  unfinishedCampaign,
} from '../../src/sync/backfill/campaign.ts'
import { tableNames, type World } from './world.ts'

/** Goes on with the backfill of guilds that was not finished, or begins one. */
export async function backfillGuilds(
  { db, api, clock, log }: World,
  options: Partial<Parameters<typeof walkBackfill>[2]> = {},
): Promise<BackfillResult> {
  const lines = (level: string) => (_fields: object, message: string) => void log.push(`${level}: ${message}`)
  const runLog = { debug: () => undefined, info: lines('info'), warn: lines('warn'), error: lines('error') }
  const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25, clock: 'api' } as const
  const engine = { db, api, clock, program: 'test', guards, log: runLog }
  await freeLeases(db, guilds.name)
  await guilds.plan(db, new Date(clock.now()))
  const campaign = options.campaign ?? (await campaignNow(db, clock.now()))
  const random = seededRandom(1)
  return await walkBackfill(guilds, engine, { concurrency: 1, random, relock: async () => true, ...options, campaign })
}

async function campaignNow(db: Database, now: number): Promise<Campaign> {
  const unfinished = await unfinishedCampaign(db, guilds.name)
  if (unfinished) return unfinished
  const since = new Date(now)
  const { keys } = await countOpen(db, { resource: guilds.name, since })
  return await beginCampaign(db, { resource: guilds.name, since, startedAt: since, keys })
}

/** How many rows each table of schema `game` has, and a fingerprint of them all. */
export async function gameDigests(db: Database): Promise<Record<string, unknown>> {
  const digests: Record<string, unknown> = {}
  for (const table of await tableNames(db)) {
    if (!table.startsWith('game.')) continue
    const [row] = await db.query(
      `select count(*) as rows, md5(string_agg(line, chr(10) order by line collate "C")) as digest
         from (select (to_jsonb(each) - 'run_id' - 'id')::text as line from ${table} each) all_of_it`,
    )
    digests[table] = row
  }
  return digests
}
