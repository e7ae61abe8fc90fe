import { readFileSync, writeFileSync } from 'node:fs'

// Loaded into a process before its program: writes at its end what it cost into the folder that its own URL names.

/** What a process and its memory came to, as `meter` writes it. */
export interface Usage {
  /** Processor time of user and system, in ms. */
  readonly cpuMs: number
  /** Most memory that was resident at once, in MB. */
  readonly peakMb: number
}

process.once('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const usage: Usage = { cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMb: (ownPeak() ?? maxRSS) / 1024 }
  const folder = new URL(import.meta.url).searchParams.get('into')
  writeFileSync(`${folder}/${process.pid}.json`, JSON.stringify(usage))
})

/** In kB. The kernel lets maxRSS begin at the peak of the parent, which may be far larger; its own count does not. */
function ownPeak(): number | undefined {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? Number.NaN) || undefined
  } catch {
    return undefined
  }
}
