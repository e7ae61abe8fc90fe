import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock as clock } from '../../src/base/clock.ts'
import { RetryableError } from '../../src/base/errors.ts'
import { SocketEngine } from '../../src/db/embedded/engine-socket.ts'
import { readHolder } from '../../src/db/embedded/folder-lock.ts'
import { openShared, socketPath } from '../../src/db/embedded/shared-folder.ts'
import { buildProgram, runProgram, startProgram } from '../support/cli.ts'
import { temporaryFolder, testDataDir } from '../support/postgres.ts'
import { emptyFolder, openData, thread } from '../support/shared-data.ts'

beforeAll(buildProgram)

/** A process that holds the folder until it is killed or told to end, and has a table with a row. */
async function holdingProcess(dataDir: string, statement: string) {
  const module = (name: string) => JSON.stringify(new URL(`../../dist/${name}`, import.meta.url).href)
  const program = `
    const { openShared } = await import(${module('db/embedded/shared-folder.js')})
    const { systemClock: clock } = await import(${module('base/clock.js')})
    const db = await openShared(${JSON.stringify(dataDir)}, { clock, random: Math.random, thread: new URL(${JSON.stringify(thread.href)}) })
    await db.query(${JSON.stringify(statement)})
    console.log('up')
    process.once('SIGTERM', () => db.close().then(() => process.exit(0)))
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return {
    end: () => void child.kill('SIGTERM'),
    kill: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

describe('processes with one data folder', () => {
  test.each([
    ['in a thread', thread],
    ['in this process', undefined],
  ])(
    'go on when Postgres failed %s: it is opened again, with what was committed and the locks that are held',
    async (_where, engine) => {
      const dataDir = await emptyFolder()
      const db = await openShared(dataDir, { clock, shares: 'writes', thread: engine, random: Math.random })
      onTestFinished(() => db.close())
      await db.query('create table t (a int)')
      await db.query('insert into t values (1)')
      const lock = await db.tryLock('one')
      const other = await openData(dataDir, 'writes', 10_000)
      const nested = `select (repeat('[', 2000000) || repeat(']', 2000000))::json`
      const failed = db.transaction(async (sql) => {
        await sql.query('insert into t values (2)')
        await sql.query(nested)
      })
      await expect(failed).rejects.toThrow('nested too deep')
      expect(await db.values('select a from t')).toEqual([[1]])
      expect(await other.values('select a from t')).toEqual([[1]])
      expect(await db.tryLock('one')).toBeNull()
      await lock?.release()
      expect(await other.tryLock('one')).not.toBeNull()
      await expect(other.query(nested)).rejects.toThrow()
      expect(await other.values('select a from t')).toEqual([[1]])
    },
  )

  test('read and write through the one that holds it, each transaction as a whole', async () => {
    const dataDir = await emptyFolder()
    const holder = await openData(dataDir)
    await holder.query('create table t (id int, words text[], raw bytea)')
    const [reader, writer] = [await openData(dataDir, 'reads'), await openData(dataDir, 'writes')]
    const row = [1, ['a', 'b,"c'], Uint8Array.of(0, 255)] as const
    expect(await writer.copy('public.t', ['id', 'words', 'raw'], [row])).toBe(1)
    expect(await reader.values('select * from t')).toEqual([row])
    await expect(reader.query('insert into t (id) values (2)')).rejects.toMatchObject({
      context: { sqlState: '25006' },
    })
    const inside: string[] = []
    await Promise.all([
      writer.transaction(async (sql) => {
        inside.push('writer')
        await sql.query(`set local work_mem = '1MB'; insert into t (id) values (3)`)
        await clock.sleep(200)
        inside.push('writer')
      }),
      clock.sleep(50).then(() =>
        holder.transaction(async (sql) => {
          inside.push('holder')
          expect(await sql.query('show work_mem')).toEqual([{ work_mem: '16MB' }])
          expect(await sql.query('show transaction_read_only')).toEqual([{ transaction_read_only: 'off' }])
          await sql.query('insert into t (id) values (4)')
        }),
      ),
    ])
    expect(inside).toEqual(['writer', 'writer', 'holder'])
    const failed = writer.transaction(async (sql) => {
      await sql.query('insert into t (id) values (5)')
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    expect(await reader.values('select id from t order by id')).toEqual([[1], [3], [4]])
  })

  test('share named locks, and give them back when they end', async () => {
    const dataDir = await emptyFolder()
    const [holder, one, two] = [
      await openData(dataDir),
      await openData(dataDir, 'writes'),
      await openData(dataDir, 'writes'),
    ]
    const lock = await one.tryLock('a')
    expect(lock).not.toBeNull()
    for (const other of [holder, one, two]) expect(await other.tryLock('a')).toBeNull()
    await lock?.release()
    expect(await two.tryLock('a')).not.toBeNull()
    await two.close()
    await expect.poll(async () => await holder.tryLock('a')).not.toBeNull()
  })

  test('take the folder when the holder ends, and keep their locks', async () => {
    const dataDir = await emptyFolder()
    const holder = await openData(dataDir)
    await holder.query('create table t (id int)')
    const others = [await openData(dataDir, 'writes', 20_000), await openData(dataDir, 'writes', 20_000)] as const
    expect(await others[0].tryLock('a')).not.toBeNull()
    const working = Promise.all(
      others.map(async (db, index) => {
        for (let at = 0; at < 20; at++) {
          await db.transaction((sql) => sql.query('insert into t values ($1)', [100 * index + at]))
          await clock.sleep(10)
        }
      }),
    )
    await clock.sleep(50)
    await holder.close()
    await working
    expect(await others[1].values('select count(*) from t')).toEqual([[40]])
    expect(await others[1].tryLock('a')).toBeNull()
  })

  test('go on with what the holder had not begun when it ended in order', async () => {
    const dataDir = await emptyFolder()
    const holder = await openData(dataDir)
    await holder.query('create table t (id int)')
    const others = [await openData(dataDir, 'writes', 20_000), await openData(dataDir, 'writes', 20_000)] as const
    const working = Promise.all(
      others.map(async (db, index) => {
        for (let at = 0; at < 40; at++) {
          if (at % 2 === 0) await db.query('insert into t values ($1)', [100 * index + at])
          else await db.copy('public.t', ['id'], [[100 * index + at]])
        }
      }),
    )
    await clock.sleep(20)
    await holder.close()
    await working
    expect(await others[1].values('select count(*), count(distinct id) from t')).toEqual([[80, 80]])
  })

  test('go on after the holder ended while this process was busy', async () => {
    const dataDir = await emptyFolder()
    const holder = await holdingProcess(dataDir, 'create table t (id int)')
    const writer = await openData(dataDir, 'writes', 20_000)
    await writer.query('insert into t values (1)')
    holder.end()
    // As parsing a long response does: nothing of what the holder says is read meanwhile.
    const until = performance.now() + 1500
    while (performance.now() < until);
    await writer.query('insert into t values (2)')
    expect(await writer.values('select id from t order by id')).toEqual([[1], [2]])
  })

  test('end a long transaction although the holder has nothing left to do', async () => {
    const dataDir = await emptyFolder()
    const holder = await openData(dataDir)
    await holder.query('create table t (id int)')
    const writer = await openData(dataDir, 'writes', 20_000)
    const working = writer.transaction(async (sql) => {
      await sql.query('insert into t values (1)')
      await clock.sleep(4000)
      await sql.query('insert into t values (2)')
    })
    await clock.sleep(100)
    await holder.close()
    await working
    expect(await writer.values('select count(*) from t')).toEqual([[2]])
  })

  test('lose nothing that was committed when the holder is killed, and say so of what was open', async () => {
    const dataDir = await emptyFolder()
    const holder = await holdingProcess(dataDir, 'create table t as select 1 as id')
    const [reader, writer] = [await openData(dataDir, 'reads', 20_000), await openData(dataDir, 'writes', 20_000)]
    await writer.query('insert into t values (2)')
    let ready: () => void = () => {}
    const begun = new Promise<void>((resolve) => {
      ready = resolve
    })
    const open_ = writer.transaction(async (sql) => {
      await sql.query('insert into t values (3)')
      ready()
      await clock.sleep(1000)
      await sql.query('insert into t values (4)')
    })
    await begun
    await holder.kill()
    await expect(open_).rejects.toThrow(RetryableError)
    expect(await reader.values('select id from t order by id')).toEqual([[1], [2]])
    await writer.query('insert into t values (5)')
    expect(await reader.values('select count(*) from t')).toEqual([[3]])
    expect(await readHolder(dataDir)).toMatchObject({ pid: process.pid })
  })

  test('are not held up by a process that went away in a transaction', async () => {
    const dataDir = await emptyFolder()
    const holder = await openData(dataDir)
    await holder.query('create table t (id int)')
    const gone = await SocketEngine.open(socketPath(dataDir) ?? '', { isWork: true })
    for (const statement of ['begin', 'insert into t values (1)']) await gone.exec(statement)
    void gone.exec('select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b').catch(() => {})
    await clock.sleep(100)
    await gone.close()
    expect(await holder.values('select count(*) from t')).toEqual([[0]])
  })

  test('find the holder also where the path is long or leads over a link, and a killed one leaves nothing in the way', async () => {
    const base = await temporaryFolder()
    const long = join(base, 'l'.repeat(80), 'o'.repeat(80))
    await mkdir(long, { recursive: true })
    const link = join(base, 'link')
    await symlink(long, link)
    expect(Buffer.byteLength(socketPath(long) ?? '')).toBeLessThan(108)
    const holder = await openData(long)
    await holder.query('create table t as select 1 as id')
    expect(statSync(socketPath(long) ?? '').mode & 0o777).toBe(0o600)
    for (const path of [long, link])
      expect(await (await openData(path, 'reads')).values('select id from t')).toEqual([[1]])
    await holder.close()
    expect(existsSync(socketPath(long) ?? '')).toBe(false)
    writeFileSync(socketPath(long) ?? '', 'of a process that was killed')
    const next = await openData(long)
    expect(await (await openData(long, 'reads')).values('select id from t')).toEqual([[1]])
    await next.close()
  })

  test('wait for one that does not answer, and say for whom', async () => {
    const dataDir = await emptyFolder()
    const holder = await openShared(dataDir, { clock, holds: ['sync items'] })
    onTestFinished(() => holder.close())
    const said: string[] = []
    const waiting = openShared(dataDir, {
      clock,
      shares: 'reads',
      waitMs: 1500,
      onWait: (message) => void said.push(message),
    })
    await expect(waiting).rejects.toThrow(RetryableError)
    expect(said).toEqual([
      expect.stringMatching(
        `is in use by process ${process.pid} \\(sync items\\) since .*up to 1 s until it ends; wait for it, stop it, or`,
      ),
    ])
    expect(fileURLToPath(thread)).toContain('dist')
  })

  test('ask at once while `start` runs, and `start` ends when it is told to', async () => {
    const dataDir = await testDataDir()
    const place = ['--data-dir', dataDir, '--base-url', 'http://127.0.0.1:9/v3']
    const start = startProgram(['start', ...place])
    onTestFinished(() => void start.child.kill('SIGKILL'))
    await expect.poll(() => existsSync(socketPath(dataDir) ?? ''), { timeout: 60_000 }).toBe(true)
    for (const command of [
      ['query', 'freshness'],
      ['status'],
      ['runs', 'list'],
      ['quarantine', 'list'],
      ['dictionary'],
    ]) {
      const { code, out, err } = await runProgram([...command, '--json', ...place])
      expect({ command, code, err }).toMatchObject({ code: 0 })
      expect(() => JSON.parse(out)).not.toThrow()
    }
    expect(await readHolder(dataDir)).toMatchObject({ pid: start.child.pid })
    start.child.kill('SIGTERM')
    expect(await start.finished).toMatchObject({ code: 0 })
    expect(await readHolder(dataDir)).toBeNull()
  })
})
