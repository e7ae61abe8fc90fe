// The part of undici that requests through a proxy take besides.
import connect from 'undici/lib/api/api-connect.js'
import request from 'undici/lib/api/api-request.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'

Dispatcher.prototype.request = request
Dispatcher.prototype.connect = connect

export { EnvHttpProxyAgent, Pool }
