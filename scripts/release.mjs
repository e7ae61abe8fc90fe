// Publishes a version: node scripts/release.mjs [--dry-run] [--registry URL] [--out FOLDER]
// It says what is not ready and ends with 1, or builds and packs what package.json lists. The packed manifest has no scripts and no
// development dependencies, so nothing of it runs where it is installed, and names the commit in `gitHead`. In the folder --out are then
// the package, the release notes (the section of CHANGELOG.md) and a list of what the package needs (SBOM, SPDX).
// --dry-run asks the registry nothing and publishes nothing. In a workflow with an identity npm says where the package comes from (provenance).
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { argv, env, execPath, exit, stderr, stdout } from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** Sizes on disk, bytes: of the unpacked package, and of all that it needs. */
const limits = { package: 9e6, dependencies: 45e6 }

const { values: options } = parseArgs({
  args: argv.slice(2),
  options: {
    'dry-run': { type: 'boolean', default: false },
    registry: { type: 'string' },
    out: { type: 'string', default: 'release' },
  },
})
const root = fileURLToPath(new URL('..', import.meta.url))
const run = (command, args, cwd = root, errors = 'inherit') =>
  execFileSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', errors] })
const git = (...args) => run('git', args).trim()
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const { name, version } = manifest
const registry = options.registry === undefined ? [] : ['--registry', options.registry]

const notes = changesOf(version)
const problems = notReady()
if (problems.length > 0) {
  stderr.write(`${problems.map((problem) => `not ready: ${problem}`).join('\n')}\n`)
  exit(1)
}

const out = resolve(root, options.out)
const work = mkdtempSync(join(tmpdir(), 'wynnsync-release-'))
try {
  mkdirSync(out, { recursive: true })
  run(execPath, ['scripts/build.mjs'])
  const staged = stage(join(work, 'staged'))
  const packed = join(out, JSON.parse(run('npm', ['pack', '--json', '--pack-destination', out], staged))[0].filename)
  const sizes = { package: sizeOf(staged), dependencies: installedSize(packed, join(work, 'installed')) }
  for (const [what, limit] of Object.entries(limits)) {
    stdout.write(`${what}: ${inMegabytes(sizes[what])} of at most ${inMegabytes(limit)}\n`)
    if (sizes[what] > limit) throw new Error(`the ${what} became larger than ${inMegabytes(limit)}`)
  }
  writeFileSync(join(out, 'notes.md'), notes)
  writeFileSync(join(out, `${name}-${version}.spdx.json`), billOfMaterials(join(work, 'installed')))
  const provenance = env.ACTIONS_ID_TOKEN_REQUEST_URL === undefined ? [] : ['--provenance']
  const dry = options['dry-run'] ? ['--dry-run'] : []
  run('npm', ['publish', packed, '--access', 'public', ...provenance, ...registry, ...dry])
  stdout.write(
    `${options['dry-run'] ? 'would publish' : 'published'} ${name}@${version} of ${git('rev-parse', '--short=8', 'HEAD')}\n`,
  )
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** What stands against a release, in sentences. */
function notReady() {
  const found = []
  if (git('status', '--porcelain') !== '') found.push('the checkout has changes that are in no commit')
  if (!git('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`))
    found.push(`no tag v${version} names this commit; git tag v${version}`)
  if (notes === '')
    found.push(`CHANGELOG.md has no section "## [${version}] - <date>" with lines; move those of [Unreleased] there`)
  if (changesOf('Unreleased') !== '') found.push('CHANGELOG.md has lines under [Unreleased]')
  if (!options['dry-run'] && isPublished()) found.push(`${name}@${version} is published already`)
  return found
}

/** The lines of a version in the changelog; a version other than Unreleased must have its date. */
function changesOf(wanted) {
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m)
  const heading = wanted === 'Unreleased' ? '[Unreleased]' : `[${wanted}] - `
  const section = sections.find((one) => one.startsWith(heading)) ?? ''
  const [first = '', ...lines] = section.split('\n')
  if (wanted !== 'Unreleased' && !/ - \d{4}-\d{2}-\d{2}$/.test(first)) return ''
  return lines.join('\n').trim()
}

function isPublished() {
  try {
    return run('npm', ['view', `${name}@${version}`, 'version', '--json', ...registry], root, 'ignore').trim() !== ''
  } catch {
    // npm ends with an error where there is no such package yet.
    return false
  }
}

/** Unpacks what npm would pack, and writes the manifest that is published. */
function stage(folder) {
  mkdirSync(folder)
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', work]))
  run('tar', ['-xzf', join(work, filename), '-C', folder, '--strip-components=1'])
  const { scripts: _scripts, devDependencies: _development, ...published } = manifest
  const repository = env.GITHUB_REPOSITORY && {
    type: 'git',
    url: `git+${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}.git`,
  }
  const whole = { ...published, ...(repository ? { repository } : {}), gitHead: git('rev-parse', 'HEAD') }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(whole, null, 2)}\n`)
  return folder
}

/** What the package needs, installed in an empty folder. */
function installedSize(packed, folder) {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "name": "installation", "version": "1.0.0", "private": true }')
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', packed], folder)
  const modules = join(folder, 'node_modules')
  return sizeOf(modules) - sizeOf(join(modules, name))
}

/** What is installed with the package, as npm lists it, and the libraries that the program holds. */
function billOfMaterials(installed) {
  const bill = JSON.parse(run('npm', ['sbom', '--sbom-format', 'spdx', '--sbom-type', 'application'], installed))
  const own = bill.packages.find((one) => one.name === name)
  const held = readFileSync(join(root, 'dist/program/LICENSES.txt'), 'utf8').matchAll(/^([@\w./-]+) (\d\S*), (\S+)$/gm)
  for (const [, library, libraryVersion, license] of held) {
    const SPDXID = `SPDXRef-Held-${library.replaceAll(/[^\w.-]/g, '.')}-${libraryVersion}`
    const known = { downloadLocation: 'NOASSERTION', filesAnalyzed: false, licenseDeclared: license }
    bill.packages.push({ name: library, SPDXID, versionInfo: libraryVersion, ...known })
    bill.relationships.push({ spdxElementId: own.SPDXID, relatedSpdxElement: SPDXID, relationshipType: 'CONTAINS' })
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}

function sizeOf(path) {
  const found = statSync(path)
  if (!found.isDirectory()) return found.size
  return readdirSync(path).reduce((sum, entry) => sum + sizeOf(join(path, entry)), 0)
}

function inMegabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
