import { type CredentialSources, chooseCredential } from '../../../app/stored-credential.ts'
import type { Database } from '../../../db/database.ts'
import { readHeldLocks } from '../../../db/locks/held-locks.ts'
import { lakeState } from '../../../lake/index-file.ts'
import type { StoreSettings } from '../../../lake/lake-store.ts'
import { readDeliveries } from '../../../monitoring/watches/delivery-state.ts'
import { resources, worklists } from '../../../resources/index.ts'
import {
  readBudgets,
  readDatingRemarks,
  readFailures,
  readGaps,
  readSizes,
  readTiers,
  readUnsent,
} from '../../../sync/overview/overview.ts'
import { readFreshness, readKeyCounts, readStates } from '../../../sync/overview/recent-runs.ts'
import { accountOf } from '../../../sync/run/database-budget-store.ts'
import { lastVerification } from '../../../sync/verify/verification.ts'
import { readPendingRefusals } from '../../../sync/worklist/refusals.ts'

const DAY = 86_400_000

/** Everything `status` shows, in the names of its JSON. */
export type Overview = Awaited<ReturnType<typeof readOverview>>

/**
 * Reads all of it as of `now`, ms since the epoch.
 * @param credentials names the accounts; without it, only guests have a name
 * @param lake the configured one
 */
export async function readOverview(
  db: Database,
  now: number,
  credentials: CredentialSources | null = null,
  lake?: { readonly place: string; readonly settings: StoreSettings },
) {
  const yesterday = new Date(now - DAY)
  const names = resources.map((resource) => resource.name)
  const freshness = await readFreshness(db)
  const states = await readStates(db, names)
  const pending = await readPendingRefusals(db, 5)
  const keys = await readKeyCounts(db)
  const nameless = await countNameless(db)
  const pendingOf = (resource: string) => (pending.has(resource) ? { pending: pending.get(resource) } : {})
  return {
    database: db.place,
    // The JSON's name for the number of current keys is `living`.
    resources: states.map(({ currentKeys: living, ...state }) => ({
      ...state,
      living,
      ...(keys.has(state.resource) ? { keys: keys.get(state.resource) } : {}),
      ...(nameless.has(state.resource) ? { nameless: nameless.get(state.resource) } : {}),
      ...freshness.get(state.resource),
      ...pendingOf(state.resource),
    })),
    budgets: (await readBudgets(db, now)).map((budget) => ({ ...budget, who: whoIs(budget.account, credentials) })),
    gaps: await readGaps(db, yesterday, 5),
    clocks: await readDatingRemarks(db, now, 24),
    unsent: await readUnsent(db, yesterday),
    failures: await readFailures(db, yesterday, 5),
    restrictions: await readPendingRestrictions(db),
    size: await readSizes(db, 5),
    tiers: await readTiers(db),
    locks: await readHeldLocks(db),
    watches: await readWatchStates(db),
    verification: (await lastVerification(db)) ?? null,
    lake: lake === undefined ? null : await lakeOf(lake.place, lake.settings),
  }
}

/** The configured lake; what is not there yet, or cannot be read, has nothing. */
async function lakeOf(place: string, settings: StoreSettings) {
  const state = await lakeState(place, settings, AbortSignal.timeout(3000)).catch(() => undefined)
  if (!state) return { place, at: null, people: false, files: 0, rows: 0, bytes: 0 }
  return { ...state, at: new Date(state.at) }
}

/** By resource, how many current keys have no name yet. */
async function countNameless(db: Database): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const { name, countNameless: count } of worklists) if (count) counts.set(name, await count(db))
  return counts
}

/** What watches deliver: not how. */
async function readWatchStates(db: Database) {
  const states = await readDeliveries(db)
  return states.map(({ watch, error, failingSince, deliveredAt }) => ({ watch, error, failingSince, deliveredAt }))
}

/**
 * The account of a budget for a person: `guest`, `token of NAME`, `token of WYNNSYNC_TOKEN`, and of others `another token` with the
 * start of its hash; with the server where it is not the configured one.
 */
function whoIs(account: string, sources: CredentialSources | null): string {
  const [origin = '', who = ''] = account.split(' ')
  const at = sources === null || origin === new URL(sources.baseUrl).origin ? '' : ` at ${origin}`
  if (who === 'guest') return `guest${at}`
  const own = sources === null ? undefined : ownAccount(sources)
  return own?.account === account ? `token of ${own.name}` : `another token (${who.slice(0, 6)})${at}`
}

/** The account that requests of this configuration are counted for; undefined for a guest. */
function ownAccount(sources: CredentialSources): { account: string; name: string } | undefined {
  try {
    const credential = chooseCredential(sources)
    if (credential === null) return undefined
    const { from, stored } = credential
    const name = from === 'file' ? (stored?.who?.username ?? stored?.who?.uuid ?? 'the stored login') : from
    return { account: accountOf(sources.baseUrl, credential.token()), name }
  } catch {
    // A file that cannot be used is no concern of a status; `doctor` names it.
    return undefined
  }
}

/** How many restrictions wait for another response, by rule. */
async function readPendingRestrictions(db: Database) {
  return await db.query<{
    readonly group: string
    readonly pending: number
    /** Of these: what the guard mass-restriction holds. */
    readonly held: number
    /** Of these: what a guest set, and only a response to a token confirms. */
    readonly needsToken: number
    readonly since: Date
  }>(
    `select field_group as "group", count(*)::int as pending, count(*) filter (where is_held)::int as held,
            count(*) filter (where needs_credential = 'token')::int as "needsToken", min(since) as since
       from sync.privacy_restriction where is_pending group by field_group order by pending desc, field_group collate "C"`,
  )
}
