import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { temporaryFolder } from '../support/postgres.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)
const version = '7.8.9'

/** A checkout of the files that are here, in one commit. */
async function checkout(): Promise<string> {
  const folder = join(await temporaryFolder(), 'checkout')
  const names = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' })
  for (const name of names.split('\0').filter((one) => one !== '')) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await cp(join(root, name), join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      // It was removed and is not committed yet.
      if (error.code !== 'ENOENT') throw error
    })
  }
  // Its build keeps a cluster of this version there, which is none for the other tests.
  const [from, to] = [join(root, 'node_modules'), join(folder, 'node_modules')]
  await mkdir(to)
  const libraries = (await readdir(from)).filter((name) => name !== '.cache')
  for (const name of libraries) await symlink(join(from, name), join(to, name))
  await git(folder, 'init', '--quiet')
  await commit(folder)
  return folder
}

const git = async (folder: string, ...args: string[]) => (await run('git', args, { cwd: folder })).stdout.trim()
const commit = async (folder: string) => {
  await git(folder, 'add', '--all')
  await git(folder, '-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '--quiet', '--message', 'change')
}

/** A registry that has what is published there; everything else comes from the registry of this machine. */
async function openRegistry() {
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim().replace(/\/$/, '')
  const published: { name: string; _attachments: Record<string, { data: string }>; versions: object }[] = []
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    const [latest] = published
    if (request.method === 'PUT') {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      published.unshift(JSON.parse(Buffer.concat(chunks).toString()))
      response.writeHead(201).end('{}')
    } else if (path.startsWith('/wynnsync/-/') && latest) {
      response.end(Buffer.from(Object.values(latest._attachments)[0]?.data ?? '', 'base64'))
    } else if (path === '/wynnsync') {
      const { _attachments: _, ...packument } = latest ?? { _attachments: {} }
      response.writeHead(latest ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(packument))
    } else response.writeHead(302, { location: `${upstream}${request.url}` }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const env = {
    ...process.env,
    npm_config_update_notifier: 'false',
    [`npm_config_//127.0.0.1:${port}/:_authToken`]: 'token',
  }
  return { url: `http://127.0.0.1:${port}/`, env, published, close: () => server.close() }
}

describe('a release', () => {
  let folder: string
  let registry: Awaited<ReturnType<typeof openRegistry>>
  beforeAll(async () => {
    folder = await checkout()
    registry = await openRegistry()
    return () => registry.close()
  })
  const release = (...args: string[]) =>
    run(process.execPath, ['scripts/release.mjs', '--registry', registry.url, ...args], {
      cwd: folder,
      env: registry.env,
    })

  test('says all that is not ready, and publishes nothing', async () => {
    await writeFile(join(folder, 'new.txt'), '')
    const text = await readFile(join(folder, 'package.json'), 'utf8')
    await writeFile(join(folder, 'package.json'), text.replace(/"version": "[^"]+"/, `"version": "${version}"`))
    const changes = await readFile(join(folder, 'CHANGELOG.md'), 'utf8')
    const told = changes.replace('## [Unreleased]\n', '## [Unreleased]\n\n### Added\n\n- What the test adds.\n')
    await writeFile(join(folder, 'CHANGELOG.md'), told)
    await expect(release('--dry-run')).rejects.toMatchObject({
      code: 1,
      stderr: [
        'not ready: the checkout has changes that are in no commit',
        `not ready: no tag v${version} names this commit; git tag v${version}`,
        `not ready: CHANGELOG.md has no section "## [${version}] - <date>" with lines; move those of [Unreleased] there`,
        'not ready: CHANGELOG.md has lines under [Unreleased]',
        '',
      ].join('\n'),
    })
    expect(registry.published).toEqual([])
  })

  test('tries everything in a dry run, is published once, and can be installed', async () => {
    const changes = await readFile(join(folder, 'CHANGELOG.md'), 'utf8')
    await writeFile(
      join(folder, 'CHANGELOG.md'),
      changes.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - 2026-01-02\n`),
    )
    await commit(folder)
    await git(folder, 'tag', `v${version}`)
    const head = await git(folder, 'rev-parse', 'HEAD')
    const out = join(dirname(folder), 'release')
    const dry = await release('--dry-run', '--out', out)
    const sizes = /^package: (\d+\.\d) MB of at most 9\.0 MB\ndependencies: (\d+\.\d) MB of at most 45\.0 MB\n/
    expect(dry.stdout).toMatch(sizes)
    expect(dry.stdout).toContain(`would publish wynnsync@${version} of ${head.slice(0, 8)}\n`)
    expect(registry.published).toEqual([])
    expect(await readFile(join(out, 'notes.md'), 'utf8')).toMatch(/^### Added\n\n- /)
    const { packages } = JSON.parse(await readFile(join(out, `wynnsync-${version}.spdx.json`), 'utf8'))
    const names = packages.map(({ name }: { readonly name: string }) => name)
    expect(names).toEqual(expect.arrayContaining(['wynnsync', 'postgres', 'drizzle-orm', 'undici']))
    expect(names).not.toContain('vitest')

    const real = await release('--out', out)
    expect(real.stdout).toContain(`published wynnsync@${version} of ${head.slice(0, 8)}\n`)
    const manifest = Object.values(registry.published[0]?.versions ?? {})[0]
    expect(manifest).toMatchObject({ version, gitHead: head, bin: { wynnsync: 'dist/main.js' } })
    // Nothing of it runs where it is installed.
    for (const part of ['scripts', 'devDependencies']) expect(manifest).not.toHaveProperty(part)
    await expect(release('--out', out)).rejects.toMatchObject({
      stderr: `not ready: wynnsync@${version} is published already\n`,
    })

    const user = await temporaryFolder()
    const npx = ['--yes', '--prefer-offline', '--registry', registry.url, `wynnsync@${version}`, '--version']
    const env = { ...registry.env, npm_config_cache: join(user, 'cache') }
    const { stdout } = await run('npx', npx, { cwd: user, env })
    expect(stdout).toBe(`${version} (${head.slice(0, 8)})\n`)
  })
})

test('the workflow publishes the package, the images and the notes of a tag', async () => {
  const workflow = parse(await readFile(join(root, '.github/workflows/release.yml'), 'utf8'))
  expect(workflow.on.push.tags).toEqual(['v*'])
  const steps = Object.values<{ steps: { run?: string; with?: Record<string, string> }[] }>(workflow.jobs).flatMap(
    (job) => job.steps,
  )
  const commands = steps.flatMap(({ run }) => run ?? []).join('\n')
  expect(commands).toContain('node scripts/release.mjs')
  expect(commands).toContain('gh release create')
  expect(steps.flatMap((step) => step.with?.platforms ?? [])).toEqual(['linux/amd64,linux/arm64'])
  // npm says where a package comes from only with an identity of the workflow.
  expect(workflow.jobs.package.permissions).toMatchObject({ 'id-token': 'write' })
})
