import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { buildProgram, startCommand, startProgram } from '../support/cli.ts'
import { effort } from '../support/effort.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'

const { prometheus, prometheusSeconds } = effort
const isThere = prometheus !== '' && existsSync(prometheus)
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface Series {
  readonly metric: Readonly<Record<string, string>>
  readonly values: readonly (readonly [at: number, value: string])[]
}

describe('a real Prometheus', () => {
  beforeAll(buildProgram)

  test.skipIf(!isThere)(
    `scrapes what agrees with the ledger while a day of the sandbox passes${isThere ? '' : ' (skipped: WYNNSYNC_TEST_PROMETHEUS names no binary)'}`,
    async () => {
      const DATABASE_URL = await testDatabaseUrl()
      const game = { guilds: 60, players: 200 }
      const sandbox = await startSandbox({ clock: systemClock, game, speed: 600, faults: { gateway: 0.1 } })
      onTestFinished(() => sandbox.close())
      const [port, own] = [await freePort(), await freePort()]
      const program = startProgram(['start', '--metrics-port', String(port)], {
        DATABASE_URL,
        WYNNSYNC_BASE_URL: sandbox.url,
        WYNNSYNC_SCHEDULE: 'items=* * * * *; recipes=* * * * *',
      })
      const folder = await temporaryFolder()
      const jobs = `scrape_configs: [{job_name: wynnsync, static_configs: [{targets: ['127.0.0.1:${port}']}]}]`
      await writeFile(join(folder, 'prometheus.yml'), `global: {scrape_interval: 1s}\n${jobs}\n`)
      const flags = [
        '--config.file=prometheus.yml',
        `--web.listen-address=127.0.0.1:${own}`,
        '--storage.tsdb.path=tsdb',
      ]
      const scraper = startCommand(prometheus, flags, {}, folder)
      const ended = Promise.all([program.finished, scraper.finished])
      onTestFinished(async () => {
        program.child.kill('SIGKILL')
        scraper.child.kill('SIGKILL')
        await ended
      })
      await pause(prometheusSeconds * 1000)

      const ask = async (query: string): Promise<Series[]> => {
        const answer = await fetch(`http://127.0.0.1:${own}/api/v1/query?query=${encodeURIComponent(query)}`)
        const { data } = (await answer.json()) as { data: { result: Series[] } }
        return data.result
      }
      const db = await openServer(DATABASE_URL)
      onTestFinished(() => db.close())
      /** Of the ledger, by half a second before and after a scrape: a run may end while it is on its way. */
      const ledger = async (sum: string, labels: Readonly<Record<string, string>>, at: number) => {
        const status = labels.status ?? '%'
        const around = [at - 0.5, at + 0.5].map(async (second) => {
          const [row] = await db.query<{ n: number }>(
            `select coalesce(${sum}, 0)::int as n from sync.run
              where resource = $1 and status like $2 and finished_at <= to_timestamp($3)`,
            [labels.resource ?? '', status, second],
          )
          return row?.n ?? 0
        })
        return await Promise.all(around)
      }
      const up = await ask('up[1m]')
      expect(up[0]?.values.filter(([, value]) => value === '1').length).toBeGreaterThan(prometheusSeconds / 3)
      let compared = 0
      for (const [query, sum] of [
        ['wynnsync_runs_total{status!="skipped"}[1m]', () => 'count(*)'],
        ['wynnsync_rows_total[1m]', ({ kind }: Series['metric']) => `sum(${kind})`],
        ['wynnsync_run_duration_seconds_count[1m]', () => 'count(*)'],
      ] as const) {
        for (const { metric, values } of await ask(query)) {
          const [at, value] = values.at(-1) ?? [0, '']
          const [least, most] = await ledger(sum(metric), metric, at)
          expect([metric, Number(value) >= (least ?? 0) && Number(value) <= (most ?? 0)]).toEqual([metric, true])
          compared += Number(value)
        }
      }
      expect(compared).toBeGreaterThan(100)
      const [requests] = await ask('sum(wynnsync_requests_total)[1s:1s]')
      expect(Number(requests?.values.at(-1)?.[1])).toBeGreaterThan(0.8 * sandbox.requests.length)
    },
    prometheusSeconds * 1000 + 60_000,
  )
})
