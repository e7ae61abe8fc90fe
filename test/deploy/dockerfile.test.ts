import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { serveMetrics } from '../../src/monitoring/metrics-server.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

/** Instructions of the Dockerfile, continued lines joined, stage by stage. */
const stages = read('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '')
  .reduce<string[][]>((all, line) => {
    if (line.startsWith('FROM ')) all.push([])
    all.at(-1)?.push(line)
    return all
  }, [])
const last = stages.at(-1) ?? []
const argumentsOf = (instruction: string) =>
  last.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1))
const copied = (stage: readonly string[]) =>
  stage
    .filter((line) => line.startsWith('COPY ') && !line.startsWith('COPY --from'))
    .flatMap((line) => line.split(' ').slice(1, -1))

describe('the Dockerfile', () => {
  test('copies what is there, and what the context brings', () => {
    const allowed = read('.dockerignore').split('\n').filter(Boolean).slice(1)
    for (const path of stages.flatMap(copied)) {
      expect(existsSync(new URL(path, root)), path).toBe(true)
      expect(allowed, path).toContain(`!${path.split('/')[0]}`)
    }
  })

  test('brings along all that the package has', () => {
    const { files } = JSON.parse(read('package.json')) as { files: string[] }
    const brought = [...copied(last), 'dist']
    const packed = files.filter((file) => !file.startsWith('!'))
    expect(packed.length).toBeGreaterThan(10)
    for (const file of packed)
      expect(
        brought.some((path) => file.startsWith(path)),
        file,
      ).toBe(true)
  })

  test('runs start as somebody who is not root, in a folder that is his', () => {
    expect(stages).toHaveLength(2)
    expect(argumentsOf('USER')).toEqual(['node'])
    expect(argumentsOf('VOLUME')).toEqual(['/var/lib/wynnsync'])
    expect(argumentsOf('RUN').join()).toContain('chown node:node /var/lib/wynnsync')
    expect(JSON.parse(argumentsOf('CMD')[0] ?? '')[0]).toBe('start')
  })

  test('has a health check that says what /healthz says', async () => {
    const [check = ''] = argumentsOf('HEALTHCHECK')
    const [, ...script] = JSON.parse(check.slice(check.indexOf('['))) as string[]
    const exitOf = async (port: number) => {
      const child = spawn(
        process.execPath,
        script.map((part) => part.replace('9464', String(port))),
      )
      return (await once(child, 'exit'))[0]
    }
    const wrong: string[] = []
    const options = {
      host: '127.0.0.1',
      port: 0,
      metrics: async () => '',
      problems: async () => wrong,
      warnings: async () => [],
    }
    const server = await serveMetrics(options)
    const port = Number(new URL(server.url).port)
    expect(await exitOf(port)).toBe(0)
    wrong.push('nothing was observed for an hour')
    expect(await exitOf(port)).toBe(1)
    await server.close()
    expect(await exitOf(port)).toBe(1)
  })
})
