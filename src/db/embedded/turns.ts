import { performance } from 'node:perf_hooks'
import { systemClock } from '../../base/clock.ts'
import { FatalError } from '../../base/errors.ts'

/*
 * Who has the one session of the embedded database. Work, such as a sync, is first, and of that what is urgent, such as a poll. Questions wait
 * for it and for each other, and none begins between two pieces of one work; only where work never pauses, one is let in a second, and brief ones
 * for a fifth of the time: a command asks dozens, one after the other. A question that runs is stopped when its time is over, and when work waits
 * for it and it has run for a second: then it begins anew afterwards, while its time lasts; of a command with twice the patience. An idle question begins after a second in
 * which the session was free, and is stopped by every other user. All times are real, whatever the clock of the program.
 */

/** How long a question runs although work waits for it, and how long work without a pause keeps questions waiting, ms. */
const PATIENCE_MS = 1000
/** Of the time, how much questions may have beside work that never pauses, and how much of it at once, ms. */
const SHARE_OF_TIME = 0.2
const LONGEST_TURN_MS = 200
/** How long the session is free before an idle question begins, ms. */
const IDLE_MS = 1000
/** How often a question is interrupted until it ends, ms: a message may have been on its way to the database before. */
const INTERRUPT_EVERY_MS = 50

/** The session, from `begin` to `end`. */
export interface Turn {
  /** Why its statements are interrupted: its time is over, or work waits for it. Undefined: they are not. */
  stopped(): 'late' | 'preempted' | undefined
  /** Whether others wait for its end. */
  isAwaited(): boolean
  /** Runs a statement that may be interrupted. @throws the error of a stopped turn, also before it begins */
  run<T>(statement: () => Promise<T>): Promise<T>
  end(): void
}

export interface TurnOptions {
  /** Of a question: when its time is over, as `performance.now()`. Infinite where only work ends it. */
  readonly endsAt?: number | undefined
  /** Of a question: how long it runs although work waits for it, ms; a second where it is not said. */
  readonly patienceMs?: number | undefined
  /** Of a question: gives way to all others, and to work at once. */
  readonly isIdle?: boolean | undefined
  /** Of work: comes before other work, and no other begins between two pieces of it. */
  readonly isUrgent?: boolean | undefined
  /** Ends the waiting, and an idle turn. */
  readonly signal?: AbortSignal | undefined
  /** Called when the turn is stopped. */
  readonly onStop?: (() => void) | undefined
  /** Called when another begins to wait for its end. */
  readonly onWait?: (() => void) | undefined
}

interface Waiting {
  readonly options: TurnOptions
  /** As `performance.now()`. */
  readonly since: number
  start(turn: Turn): void
}

interface Held {
  readonly options: TurnOptions
  /** Called when another begins to wait for its end that may stop it. */
  hurry(): void
}

export type Turns = ReturnType<typeof takeTurns>

/** @param interrupt cancels the statement that runs, where that is possible */
export function takeTurns(interrupt: () => void) {
  const urgent: Waiting[] = []
  const work: Waiting[] = []
  const questions: Waiting[] = []
  const idle = idleQueue((waiting) => waiting.start(hold(waiting.options)))
  let current: Held | undefined
  /** A piece of this work has just ended: the next one of the same work may follow before anything else happens. */
  let pausing: 'urgent' | 'work' | undefined
  let lastQuestionAt = Number.NEGATIVE_INFINITY
  const share = shareOfTime()

  const isWorkWaiting = () => urgent.length + work.length > 0

  function next({ options }: Held): void {
    current = undefined
    if (isQuestion(options) && !options.isIdle) lastQuestionAt = performance.now()
    share.end()
    if (options.isUrgent) pauseAfter('urgent')
    else if (isQuestion(options) || isWorkWaiting()) startNext()
    else pauseAfter('work')
  }

  function startNext(): void {
    if (current) return
    const waiting = urgent.shift() ?? (work.length > 0 && !isTheirTurn() ? work.shift() : questions.shift())
    if (waiting) waiting.start(hold(waiting.options))
    else idle.begin()
  }

  /** Work that never pauses, such as a first sync, lets questions in between. */
  function isTheirTurn(): boolean {
    const [first] = questions
    if (first === undefined) return false
    return share.isLeft() || performance.now() - Math.max(first.since, lastQuestionAt) > PATIENCE_MS
  }

  function pauseAfter(ended: 'urgent' | 'work'): void {
    if (pausing === undefined)
      setImmediate(() => {
        pausing = undefined
        startNext()
      })
    pausing = ended
  }

  const mayBegin = (options: TurnOptions) =>
    !options.isIdle && (options.isUrgent || pausing === undefined || (pausing === 'work' && !isQuestion(options)))

  function hold(options: TurnOptions): Turn {
    idle.cancel()
    const { stop, stopped, run, clear } = stoppable(options, interrupt)
    const hurry = isQuestion(options)
      ? onceLater(options.patienceMs ?? PATIENCE_MS, () => isWorkWaiting() && stop('preempted'))
      : undefined
    const mine: Held = { options, hurry: () => (options.isIdle ? stop('preempted') : hurry?.begin()) }
    current = mine
    if (options.isIdle) options.signal?.addEventListener('abort', mine.hurry, { once: true })
    else if (isQuestion(options)) share.begin()
    if (isWorkWaiting()) mine.hurry()
    const end = () => {
      options.signal?.removeEventListener('abort', mine.hurry)
      hurry?.cancel()
      clear()
      if (current === mine) next(mine)
    }
    return { stopped, isAwaited: () => isWorkWaiting() || questions.length > 0, run, end }
  }

  /**
   * Waits for the session.
   * @throws FatalError with SQLSTATE 57014 when a question's time is over before its turn comes, and the reason of the signal
   */
  async function begin(options: TurnOptions = {}): Promise<Turn> {
    options.signal?.throwIfAborted()
    if (!current && mayBegin(options)) return hold(options)
    const queue = options.isIdle ? idle.waiting : isQuestion(options) ? questions : options.isUrgent ? urgent : work
    return await waitIn(queue, options, () => {
      if (options.isIdle && !current) idle.begin()
      if (options.isIdle) return
      if (!isQuestion(options) || current?.options.isIdle) current?.hurry()
      current?.options.onWait?.()
    })
  }

  return { begin }
}

/** Idle questions: one is started when the session was free for a while since `begin`. */
function idleQueue(start: (one: Waiting) => void) {
  const waiting: Waiting[] = []
  let cancel = () => {}
  const begin = () => {
    cancel()
    if (waiting.length === 0) return
    cancel = later(IDLE_MS, () => {
      const [one] = waiting.splice(0, 1)
      if (one) start(one)
    })
  }
  return { waiting, begin, cancel: () => cancel() }
}

/** Waits in a queue until the turn is started, its time is over or its signal is aborted. */
async function waitIn(queue: Waiting[], options: TurnOptions, onWait: () => void): Promise<Turn> {
  const { endsAt = Number.POSITIVE_INFINITY, signal } = options
  let timer = () => {}
  let leave: (() => void) | undefined
  try {
    return await new Promise<Turn>((start, refuse) => {
      const waiting: Waiting = { options, start, since: performance.now() }
      const giveUp = (why: unknown) => {
        const at = queue.indexOf(waiting)
        if (at >= 0) queue.splice(at, 1)
        refuse(why)
      }
      queue.push(waiting)
      leave = () => giveUp(signal?.reason)
      signal?.addEventListener('abort', leave, { once: true })
      if (Number.isFinite(endsAt)) timer = later(endsAt - performance.now(), () => giveUp(questionTimeout()))
      onWait()
    })
  } finally {
    timer()
    if (leave) signal?.removeEventListener('abort', leave)
  }
}

const isQuestion = ({ endsAt }: TurnOptions) => endsAt !== undefined

/** Statements that are interrupted once the turn is stopped: by `stop`, or when its time is over. */
function stoppable({ endsAt = Number.POSITIVE_INFINITY, onStop }: TurnOptions, interrupt: () => void) {
  let stopped: ReturnType<Turn['stopped']>
  let isRunning = false
  let isOver = false
  let repeat = () => {}
  const again = () => {
    if (isRunning) interrupt()
    repeat = later(INTERRUPT_EVERY_MS, again)
  }
  const stop = (why: 'late' | 'preempted') => {
    // A timer may be on its way when the turn ends: what repeats would never end then.
    if (stopped !== undefined || isOver) return
    stopped = why
    again()
    onStop?.()
  }
  const late = Number.isFinite(endsAt) ? later(endsAt - performance.now(), () => stop('late')) : () => {}
  const run = async <T>(statement: () => Promise<T>): Promise<T> => {
    if (stopped !== undefined) throw questionTimeout()
    isRunning = true
    try {
      return await statement()
    } finally {
      isRunning = false
    }
  }
  const clear = () => {
    isOver = true
    late()
    repeat()
  }
  return { stopped: () => stopped, stop, run, clear }
}

/** The share of the time that questions have used; less is left of it while one runs. */
function shareOfTime() {
  let left = LONGEST_TURN_MS
  let since = performance.now()
  let isUsed = false
  const count = () => {
    const now = performance.now()
    left = Math.max(
      -PATIENCE_MS,
      Math.min(LONGEST_TURN_MS, left + (now - since) * (isUsed ? SHARE_OF_TIME - 1 : SHARE_OF_TIME)),
    )
    since = now
  }
  const use = (is: boolean) => {
    count()
    isUsed = is
  }
  return {
    begin: () => use(true),
    end: () => use(false),
    isLeft: () => {
      count()
      return left > 0
    },
  }
}

/** Runs work when it was begun, but not before so long from now. */
function onceLater(ms: number, work: () => void) {
  const at = performance.now() + ms
  let cancel: (() => void) | undefined
  return {
    begin: () => {
      cancel ??= later(at - performance.now(), () => {
        cancel = undefined
        work()
      })
    },
    cancel: () => cancel?.(),
  }
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
