import { performance } from 'node:perf_hooks'
import { systemClock } from '../../app/clock.ts'
import { FatalError } from '../../app/errors.ts'

/*
 * Who has the one session of the embedded database. Work, such as a sync, is first; questions wait for it, and for each other. A
 * question that runs is stopped at its end, and when work has waited for it for a second: then it begins anew afterwards, while its time
 * lasts. All times are real, whatever the clock of the program.
 */

/** How long work waits for a question, ms. */
const PATIENCE = 1000
/** How often a question is interrupted until it ends, ms: a message may have been on its way to the database before. */
const INTERRUPT_EVERY = 50

/** The session, from `begin` to `end`. */
export interface Turn {
  /** Why its statements are interrupted: its time is over, or work waits for it. Undefined: they are not. */
  readonly stopped: 'late' | 'preempted' | undefined
  /** Runs a statement that may be interrupted. @throws the error of a stopped turn, also before it begins */
  run<T>(statement: () => Promise<T>): Promise<T>
  end(): void
}

interface Waiting {
  /** Of a question: when its time is over, by the clock of the process. */
  readonly endsAt: number | undefined
  start(turn: Turn): void
}

export type Turns = ReturnType<typeof takeTurns>

/** @param interrupt cancels the statement that runs, where that is possible */
export function takeTurns(interrupt: () => void) {
  const work: Waiting[] = []
  const questions: Waiting[] = []
  let current: { readonly isQuestion: boolean; stop(why: 'late' | 'preempted'): void } | undefined

  function next(): void {
    const waiting = work.shift() ?? questions.shift()
    current = undefined
    if (waiting) waiting.start(hold(waiting.endsAt))
  }

  function hold(endsAt: number | undefined): Turn {
    let stopped: Turn['stopped']
    let isRunning = false
    let [late, repeat] = [() => {}, () => {}]
    const stop = (why: 'late' | 'preempted') => {
      if (stopped !== undefined) return
      stopped = why
      const again = () => {
        if (isRunning) interrupt()
        repeat = later(INTERRUPT_EVERY, again)
      }
      again()
    }
    if (endsAt !== undefined) late = later(endsAt - performance.now(), () => stop('late'))
    const mine = { isQuestion: endsAt !== undefined, stop }
    current = mine
    return {
      get stopped() {
        return stopped
      },
      run: async (statement) => {
        if (stopped !== undefined) throw questionTimeout()
        isRunning = true
        try {
          return await statement()
        } finally {
          isRunning = false
        }
      },
      end: () => {
        late()
        repeat()
        if (current === mine) next()
      },
    }
  }

  /**
   * Waits for the session.
   * @param endsAt of a question: when its time is over, as `performance.now()`
   * @throws FatalError with SQLSTATE 57014 when a question's time is over before its turn comes
   */
  async function begin(endsAt?: number): Promise<Turn> {
    if (!current) return hold(endsAt)
    const question = current.isQuestion ? current : undefined
    let timer = () => {}
    try {
      return await new Promise<Turn>((start, refuse) => {
        const waiting = { endsAt, start }
        if (endsAt === undefined) {
          work.push(waiting)
          if (question) timer = later(PATIENCE, () => question.stop('preempted'))
        } else {
          questions.push(waiting)
          timer = later(endsAt - performance.now(), () => {
            questions.splice(questions.indexOf(waiting), 1)
            refuse(questionTimeout())
          })
        }
      })
    } finally {
      timer()
    }
  }

  return { begin }
}

/** Runs work later, unless what it returns is called before. */
function later(ms: number, work: () => void): () => void {
  const never = new AbortController()
  systemClock.sleep(ms, never.signal).then(work, () => {})
  return () => never.abort()
}

/** As a server's statement_timeout, and with the same SQLSTATE. */
export function questionTimeout(): FatalError {
  return new FatalError('the question took longer than it may, or others came before it', {
    context: { sqlState: '57014' },
  })
}
