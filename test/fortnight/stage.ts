import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { userNamed } from '../support/postgres-cluster.ts'

/*
 * Where the play takes place: a folder of its own, the user who plays, the processes, and what went wrong. Every process leads a group of its
 * own, and is ended by that.
 */

/** Environment variables of a command; nothing of the tester's own reaches it but the path. */
export type Environment = Readonly<Record<string, string>>

/** What a command is typed in. */
export interface Place {
  /** For the log: `embedded main`. */
  readonly name: string
  readonly cwd: string
  readonly environment: Environment
}

/** A command that ended. */
export interface Ended {
  /** Exit code; null: a signal ended it. */
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A command that goes on until it is stopped. */
export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves once stdout or stderr has matched; false: it ended before. */
  until(said: RegExp): Promise<boolean>
  signal(name: NodeJS.Signals): void
}

/** Seconds: before a user wonders whether anything happens; before a command is ended. */
const [SILENCE, PATIENCE] = [10, 600]
/** What no text of the program should have. */
const broken = [/\bundefined\b/, /\bNaN\b/, /\[object Object\]/, /^ {4}at .+:\d+:\d+\)?$/m, /Unhandled|Warning: /]

export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'wynnsync-fortnight-'))
  readonly stumbles: string[] = []
  commands = 0
  /** The longest commands: seconds, where, and what. */
  readonly longest: (readonly [seconds: number, line: string])[] = []
  private readonly groups = new Set<number>()

  private readonly owner: { readonly uid: number; readonly gid: number } | undefined

  private constructor(owner: Stage['owner']) {
    this.owner = owner
    chmodSync(this.folder, 0o755)
    this.makeFolder('bin')
  }

  /** The user who plays is `nobody` where root starts the play. */
  static async set(): Promise<Stage> {
    return new Stage(process.getuid?.() === 0 ? await userNamed('nobody') : undefined)
  }

  /** Makes a folder, and those above it, that belong to the user who plays. */
  makeFolder(name: string): string {
    let path = this.folder
    for (const part of name.split('/')) {
      path = join(path, part)
      if (existsSync(path)) continue
      mkdirSync(path)
      if (this.owner) chownSync(path, this.owner.uid, this.owner.gid)
    }
    return path
  }

  /** What `wynnsync` is from now on. */
  install(mainFile: string): void {
    const write = (name: string, text: string) => {
      writeFileSync(join(this.folder, 'bin', name), `#!/bin/sh\n${text}\n`)
      chmodSync(join(this.folder, 'bin', name), 0o755)
    }
    write('wynnsync', `exec '${process.execPath}' '${mainFile}' "$@"`)
    // The browser: it follows the login to its end.
    write('xdg-open', 'exec curl --silent --location --output /dev/null "$1"')
    const asUser = this.owner ? { ...this.owner } : {}
    execFileSync(join(this.folder, 'bin/wynnsync'), ['--version'], { ...asUser, cwd: this.folder, env: {} })
  }

  /** Starts a line of a shell. */
  start(line: string, { cwd, environment }: Place): Running {
    const child = spawn('nice', ['-n', '5', 'bash', '-o', 'pipefail', '-c', line], {
      ...this.owner,
      cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'] as const,
      env: { PATH: `${join(this.folder, 'bin')}:${process.env.PATH}`, HOME: cwd, TMPDIR: cwd, ...environment },
    })
    const group = child.pid ?? 0
    this.groups.add(group)
    const texts = { out: '', err: '' }
    const lookers = new Set<() => void>()
    for (const name of ['out', 'err'] as const)
      child[name === 'out' ? 'stdout' : 'stderr'].setEncoding('utf8').on('data', (text: string) => {
        // Servers write for hours.
        texts[name] = (texts[name] + text).slice(-2_000_000)
        for (const look of lookers) look()
      })
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => {
        this.groups.delete(group)
        resolve({ code, ...texts })
      })
    })
    const signal = (name: NodeJS.Signals) => {
      if (this.groups.has(group)) process.kill(-group, name)
    }
    const until = (said: RegExp) =>
      new Promise<boolean>((resolve) => {
        const look = () => {
          if (!said.test(texts.out) && !said.test(texts.err)) return
          lookers.delete(look)
          resolve(true)
        }
        lookers.add(look)
        void ended.then(() => resolve(false))
        look()
      })
    return { child, ended, until, signal }
  }

  /** Types a line and judges what came of it. */
  async type(line: string, place: Place, codes: readonly number[] = [0]): Promise<Ended> {
    const began = Date.now()
    const running = this.start(line, place)
    let firstAt: number | undefined
    const heard = () => {
      firstAt ??= Date.now()
    }
    running.child.stdout?.once('data', heard)
    running.child.stderr?.once('data', heard)
    const late = setTimeout(() => running.signal('SIGKILL'), PATIENCE * 1000)
    const ended = await running.ended
    clearTimeout(late)
    const seconds = (Date.now() - began) / 1000
    const silent = ((firstAt ?? Date.now()) - began) / 1000
    this.commands += 1
    this.longest.push([seconds, `${place.name}: ${line}`])
    this.longest.sort(([a], [b]) => b - a).splice(8)
    this.note(`${place.name}: ${line}: exit ${ended.code}, ${seconds.toFixed(1)} s`)
    const why = [
      ...(ended.code !== null && codes.includes(ended.code) ? [] : [`exit ${ended.code}`]),
      ...(silent > SILENCE && !line.includes('--quiet') ? [`silent for ${silent.toFixed(1)} s`] : []),
      ...brokenIn(ended),
    ]
    if (why.length > 0) this.stumble(`${place.name}: ${line}: ${why.join(', ')} after ${seconds.toFixed(1)} s`, ended)
    return ended
  }

  /** Lets a server run until it is ready, does something beside it, and stops it. */
  async serve(line: string, ready: RegExp, place: Place, beside = async () => {}): Promise<void> {
    const began = Date.now()
    const running = this.start(line, place)
    const late = setTimeout(() => running.signal('SIGKILL'), 60_000)
    const isReady = await running.until(ready)
    clearTimeout(late)
    if (isReady) await beside()
    const asked = Date.now()
    running.signal('SIGTERM')
    const killed = setTimeout(() => running.signal('SIGKILL'), 30_000)
    const ended = await running.ended
    clearTimeout(killed)
    this.commands += 1
    const seconds = (Date.now() - asked) / 1000
    const why = [
      ...(isReady ? [] : [`not ready after ${(Date.now() - began) / 1000} s`]),
      ...(ended.code === 0 ? [] : [`exit ${ended.code}`]),
      ...(seconds > SILENCE + 1 ? [`took ${seconds} s to end`] : []),
      ...brokenIn(ended),
    ]
    this.note(`${place.name}: ${line}: served`)
    if (why.length > 0) this.stumble(`${place.name}: ${line}: ${why.join(', ')}`, ended)
  }

  /** One line as it occurs, with the end of what the command said. */
  stumble(what: string, said?: Pick<Ended, 'out' | 'err'>): void {
    const last = (said?.err || said?.out || '').trim().split('\n').slice(-4)
    const text = [what, ...last.filter(Boolean).map((line) => `    ${line.slice(0, 300)}`)].join('\n')
    this.stumbles.push(text)
    process.stdout.write(`STUMBLE ${text}\n`)
    this.note(`STUMBLE ${what}\n${said?.out ?? ''}\n${said?.err ?? ''}`)
  }

  note(text: string): void {
    appendFileSync(join(this.folder, 'play.log'), `${new Date().toISOString()} ${text}\n`)
  }

  /** Ends all that was started and still runs. */
  end(): void {
    for (const group of this.groups) {
      try {
        process.kill(-group, 'SIGKILL')
      } catch {
        // It has ended by itself.
      }
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** What a text of the program has that it should not. */
export function brokenIn({ out, err }: Pick<Ended, 'out' | 'err'>): string[] {
  return broken.flatMap((one) => {
    const [found] = one.exec(err) ?? one.exec(out) ?? []
    return found === undefined ? [] : [`says ${found.trim().slice(0, 80)}`]
  })
}
