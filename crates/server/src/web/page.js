'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const on = (id, type, act, options) => $(id).addEventListener(type, act, options);
  const log = $('log'), scroll = $('scroll'), input = $('input');

  /** A node with properties, attributes and children. Text is always text: nothing here is ever parsed as HTML. */
  function node(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in made) made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  // Markdown, built as nodes.

  const INLINE = new RegExp([
    '(`+)([\\s\\S]*?[^`])\\1(?!`)',
    '\\*\\*(?=\\S)([\\s\\S]*?\\S)\\*\\*', '__(?=\\S)([\\s\\S]*?\\S)__(?!\\w)',
    '\\*(?=[^\\s*])([\\s\\S]*?[^\\s*])\\*(?!\\*)', '(?<!\\w)_(?=[^\\s_])([\\s\\S]*?[^\\s_])_(?!\\w)',
    '\\[([^\\]\\n]*)\\]\\(\\s*<?([^\\s)>]+)>?(?:\\s+"[^"]*")?\\s*\\)',
    '(https?:\\/\\/[^\\s<>"]+)', '\\\\([\\\\`*_{}\\[\\]()#+.!~|>-])', '( *\\n)',
  ].join('|'), 'g');

  function link(target, ...children) {
    return node('a', { href: target, target: '_blank', rel: 'noopener noreferrer nofollow' }, ...children);
  }

  function inline(text, into) {
    let last = 0;
    for (const found of text.matchAll(INLINE)) {
      const [all, , code, bold, bolder, slanted, leaning, label, target, bare, escaped, line] = found;
      into.append(text.slice(last, found.index));
      last = found.index + all.length;
      if (code !== undefined) into.append(node('code', {}, code.replace(/^ (.*\S.*) $/, '$1')));
      else if (bold ?? bolder) into.append(inline(bold ?? bolder, node('strong')));
      else if (slanted ?? leaning) into.append(inline(slanted ?? leaning, node('em')));
      else if (target) into.append(/^https?:\/\//i.test(target) ? link(target, inline(label || target, node('span'))) : all);
      else if (bare) {
        const address = bare.replace(/[.,;:!?'*_~]+$/, '').replace(/\)+$/, (end) => (bare.includes('(') ? end : ''));
        into.append(link(address, address), bare.slice(address.length));
      } else if (escaped) into.append(escaped);
      else if (line) into.append(node('br'));
    }
    into.append(text.slice(last));
    return into;
  }

  function codeBlock(text, language) {
    const copy = node('button', {}, 'Copy');
    copy.onclick = async () => {
      try {
        await navigator.clipboard.writeText(text);
        copy.textContent = 'Copied';
      } catch {
        copy.textContent = 'Press Ctrl+C';
        getSelection().selectAllChildren(pre);
      }
      setTimeout(() => { copy.textContent = 'Copy'; }, 2000);
    };
    const pre = node('pre', { tabIndex: 0 }, text);
    return node('div', { className: 'code' }, node('div', {}, node('span', {}, language), copy), pre);
  }

  const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)/, HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
  const RULE = /^ {0,3}([-*_])(?: *\1){2,}\s*$/, BULLET = /^( *)([-*+]|\d{1,9}[.)])( +|$)(.*)$/;
  const DASHES = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
  const isTable = (lines, at) => lines[at].includes('|') && at + 1 < lines.length
    && lines[at + 1].includes('-') && DASHES.test(lines[at + 1]);
  const begins = (line) => FENCE.test(line) || HEADING.test(line) || RULE.test(line) || BULLET.test(line) || /^ {0,3}>/.test(line);
  const cells = (line) => line.trim().replace(/^\||\|$/g, '').split(/(?<!\\)\|/).map((cell) => cell.trim());

  function blocks(lines, into) {
    let at = 0;
    while (at < lines.length) {
      const line = lines[at];
      let found;
      if (!line.trim()) at += 1;
      else if ((found = FENCE.exec(line))) {
        const body = [];
        const ends = (end) => end.trim().startsWith(found[1]) && !/[^`~\s]/.test(end);
        for (at += 1; at < lines.length && !ends(lines[at]); at += 1) body.push(lines[at]);
        at += 1;
        into.append(codeBlock(body.join('\n'), found[2]));
      } else if ((found = HEADING.exec(line))) {
        into.append(inline(found[2], node('h' + Math.min(found[1].length + 2, 6))));
        at += 1;
      } else if (RULE.test(line)) {
        into.append(node('hr'));
        at += 1;
      } else if (/^ {0,3}>/.test(line)) {
        const body = [];
        for (; at < lines.length && /^ {0,3}>/.test(lines[at]); at += 1) body.push(lines[at].replace(/^ {0,3}> ?/, ''));
        into.append(blocks(body, node('blockquote')));
      } else if (isTable(lines, at)) {
        const row = (kind, text) => node('tr', {}, ...cells(text).map((cell) => inline(cell, node(kind))));
        const table = node('table', {}, node('thead', {}, row('th', line)));
        const body = node('tbody');
        for (at += 2; at < lines.length && lines[at].includes('|'); at += 1) body.append(row('td', lines[at]));
        table.append(body);
        into.append(node('div', { className: 'table' }, table));
      } else if (BULLET.test(line)) at = list(lines, at, into);
      else {
        const body = [];
        do body.push(lines[at++].trim()); while (at < lines.length && lines[at].trim() && !begins(lines[at]) && !isTable(lines, at));
        into.append(inline(body.join('\n'), node('p')));
      }
    }
    return into;
  }

  const depth = (line) => line.search(/\S|$/);

  function list(lines, from, into) {
    const first = BULLET.exec(lines[from]);
    const isNumbered = /\d/.test(first[2]);
    const all = node(isNumbered ? 'ol' : 'ul');
    if (isNumbered) all.start = parseInt(first[2], 10);
    let at = from;
    while (at < lines.length) {
      const head = BULLET.exec(lines[at]);
      const deeper = head && head[1].length - first[1].length;
      if (!head || deeper < 0 || deeper > 3 || /\d/.test(head[2]) !== isNumbered) break;
      const indent = head[1].length + head[2].length + Math.min(head[3].length || 1, 4);
      const body = [head[4]];
      for (at += 1; at < lines.length; at += 1) {
        const line = lines[at];
        const isDeeper = depth(line) >= Math.min(indent, head[1].length + 2);
        const next = lines.slice(at).find((later) => later.trim());
        if (!line.trim()) {
          if (!next || !(BULLET.test(next) || depth(next) >= indent)) break;
        } else if (!isDeeper && (begins(line) || !lines[at - 1].trim())) break;
        body.push(line.slice(Math.min(indent, depth(line))));
      }
      const item = blocks(body, node('li'));
      const words = item.querySelector(':scope > p:first-child');
      if (words && !item.querySelector(':scope > p:nth-child(n + 2)')) words.replaceWith(...words.childNodes);
      all.append(item);
    }
    into.append(all);
    return at;
  }

  const markdown = (text) => blocks(text.replace(/\r\n?/g, '\n').replace(/\t/g, '    ').split('\n'), node('div', { className: 'md' }));

  // Talking to the gateway.

  const refusal = (status, message) => Object.assign(new Error(message), { status });

  async function api(path, method = 'GET', body) {
    let response;
    try {
      response = await fetch('/api' + path, { method, body: body && JSON.stringify(body), headers: body ? { 'content-type': 'application/json' } : {} });
    } catch {
      throw refusal(0, 'the gateway cannot be reached');
    }
    const answer = await response.json().catch(() => ({}));
    if (response.ok) return answer;
    if (response.status === 401) say('You are logged out. Run "talaria status" where the gateway runs: it prints a fresh link.');
    throw refusal(response.status, answer.error?.message ?? `the gateway answered ${response.status}`);
  }

  function say(words) {
    $('trouble').textContent = words;
    $('trouble').hidden = !words;
  }
  const complain = (what) => (error) => { if (error.status !== 401) say(`${what}: ${error.message}.`); };
  const unread = complain('The messages cannot be loaded');

  /** When something was made: our ids begin with that. */
  const made = (id) => parseInt(id.replace('-', '').slice(0, 12), 16);

  // The conversations.

  let sessions = [], following = null;
  const drafts = new Map();

  function ago(millis) {
    const minutes = Math.round((Date.now() - millis) / 60000);
    if (minutes < 1) return 'just now';
    if (minutes < 60) return `${minutes} min ago`;
    if (minutes < 24 * 60) return `${Math.round(minutes / 60)} h ago`;
    return new Date(millis).toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
  }

  const called = (session) => session?.title || 'New conversation';

  function showSessions() {
    const rows = sessions.map((session) => {
      const button = node('button', { className: session.state }, node('b', {}, called(session)),
        node('small', {}, ago(session.updated_at) + (session.state === 'ended' ? ', ended' : '')));
      if (session.id === view.id) button.setAttribute('aria-current', 'true');
      button.onclick = () => { fold(); open(session.id); input.focus(); };
      return node('li', {}, button);
    });
    $('sessions').replaceChildren(...rows);
    $('more').hidden = !following;
    const session = sessions.find((one) => one.id === view.id) ?? view.session;
    $('title').textContent = called(session);
    document.title = session?.title ? `${session.title} · Talaria` : 'Talaria';
  }

  async function loadSessions() {
    const page = await api('/sessions?limit=50');
    sessions = page.data;
    following = page.next;
    showSessions();
  }

  async function create() {
    const session = await api('/sessions', 'POST', { surface: 'web' });
    sessions.unshift(session);
    open(session.id);
    input.focus();
  }

  // One conversation. What the ledger has is the truth; what happens now is shown on top of it until it is there.

  let view = {}, source = null, retry = 1000;

  function open(id) {
    if (view.id) drafts.set(view.id, input.value);
    view = { id, entries: new Map(), notices: new Map(), runs: new Map(), pending: [], questions: [], nodes: new Map(), session: null, running: null };
    log.replaceChildren();
    say('');
    input.value = drafts.get(id) ?? '';
    grow();
    $('welcome').hidden = true;
    $('earlier').hidden = true;
    history.replaceState(null, '', '#' + id);
    showSessions();
    attach();
  }

  /** Attaches first and loads then: what happens in between is heard of. */
  function attach() {
    source?.close();
    const mine = view;
    const stream = source = new EventSource(`/api/sessions/${view.id}/events`);
    stream.onopen = () => {
      retry = 1000;
      connected(true);
      load(mine, true).then(() => resend(mine)).catch(unread);
    };
    stream.onerror = () => {
      connected(false);
      if (stream.readyState !== EventSource.CLOSED || mine !== view) return;
      retry = Math.min(retry * 2, 15000);
      setTimeout(() => { if (mine === view && stream === source) attach(); }, retry);
    };
    for (const tag of ['started', 'yielded', 'said', 'missed']) {
      stream.addEventListener(tag, (event) => { if (mine === view) happen(JSON.parse(event.data)); });
    }
  }

  function connected(isUp) {
    $('link').className = isUp ? '' : 'down';
    $('link').textContent = isUp ? 'Connected' : 'Reconnecting…';
  }

  const latest = (mine) => Math.max(0, ...mine.entries.keys());

  async function load(mine, isAll) {
    // What begins from here on may not be in the answer.
    const path = `/sessions/${mine.id}`, old = new Set(mine.runs.keys());
    const session = await api(path);
    const from = mine.first ?? Math.max(0, session.last_seq - 100);
    const entries = await pages(path, from);
    const notices = (await api(path + '/notices')).data;
    const questions = session.running ? (await api(path + '/questions')).data : [];
    if (mine !== view) return;
    mine.questions = questions;
    mine.entries.clear();
    mine.first = from;
    for (const id of old) if (isAll && id !== session.running) mine.runs.delete(id);
    for (const entry of entries) mine.entries.set(entry.seq, entry);
    for (const notice of notices) mine.notices.set(notice.reply_id, notice);
    settle(mine, session, old);
    $('earlier').hidden = !mine.first;
    if (mine.session?.current === mine.id && session.current !== mine.id) {
      await loadSessions();
      return void open(session.current);
    }
    const isRenamed = mine.session?.title !== session.title;
    mine.session = session;
    const listed = sessions.findIndex((one) => one.id === mine.id);
    if (listed >= 0) sessions[listed] = session;
    if (isRenamed || isAll) showSessions();
    draw();
  }

  async function pages(path, from, to = Infinity) {
    const entries = [];
    for (let after = from; after !== null && after < to;) {
      const page = await api(`${path}/messages?limit=200&after=${after}`);
      entries.push(...page.data.filter((entry) => entry.seq <= to));
      after = page.next;
    }
    return entries;
  }

  /** Drops what is shown on top where the ledger has it by now. */
  function settle(mine, session, old) {
    const entries = [...mine.entries.values()];
    const waiting = new Set(session.waiting.map((one) => one.event_id));
    if (!mine.running || old.has(mine.running)) mine.running = session.running;
    for (const [id, run] of mine.runs) {
      if (old.has(id) && id !== session.running) run.isOver = true;
      if (run.isOver && entries.some((entry) => entry.run_id === id)) mine.runs.delete(id);
    }
    if (session.running && !mine.runs.has(session.running)) begin(session.running);
    const isSaid = (one) => entries.some((entry) => entry.speaker === 'user' && entry.seq > one.after && entry.text.includes(one.text.trim()));
    mine.pending = mine.pending.filter((one) => !one.event || one.isCommand || waiting.has(one.event) || !isSaid(one));
    for (const one of mine.pending) one.isWaiting = one.event ? waiting.has(one.event) : true;
    const known = new Set(mine.pending.map((one) => one.event));
    for (const one of session.waiting) {
      if (!known.has(one.event_id)) mine.pending.push({ key: one.event_id, event: one.event_id, text: one.text, at: one.at, after: latest(mine), isWaiting: true });
    }
  }

  const soon = (() => {
    let timer = 0;
    return () => {
      clearTimeout(timer);
      const mine = view;
      timer = setTimeout(() => load(mine, false).catch(unread), 60);
    };
  })();

  function begin(id, event = null) {
    for (const [other, run] of view.runs) if (event && run.event === event && other !== id) view.runs.delete(other);
    const run = view.runs.get(id) ?? { event, steps: [], version: 0, at: made(id) };
    view.runs.set(id, run);
    return run;
  }

  function happen(what) {
    if (what.kind === 'progress') return;
    if (what.happening === 'missed') return void load(view, true).catch(unread);
    if (what.happening === 'started') {
      begin(what.run, what.event);
      view.running = what.run;
      soon();
    } else if (what.happening === 'yielded') step(what.run, what.what);
    else if (what.kind === 'prompt') soon();
    else if (what.run) {
      const run = begin(what.run);
      const last = run.steps.findLast((one) => one.kind === 'text');
      if (!last || (last.isDone && last.text.trim() !== what.text.trim())) run.steps.push({ kind: 'text', text: what.text, isDone: true });
      else Object.assign(last, { text: what.text, isDone: true });
      run.version += 1;
      soon();
    } else {
      view.notices.set(what.reply, { reply_id: what.reply, text: what.text });
      soon();
    }
    draw();
  }

  function step(id, what) {
    const run = begin(id);
    const last = run.steps[run.steps.length - 1];
    const growing = (kind) => {
      if (last?.kind === kind && !last.isDone) return last;
      run.steps.push({ kind, text: '' });
      return run.steps[run.steps.length - 1];
    };
    run.version += 1;
    if (what.event === 'message_delta') growing('text').text += what.text;
    else if (what.event === 'message_completed') Object.assign(growing('text'), { text: what.text, isDone: true });
    else if (what.event === 'reasoning') growing('thought').text += what.text;
    else if (what.event === 'tool_started') run.steps.push({ kind: 'tool', call: what.call, tool: what.tool, given: what.arguments });
    else if (what.event === 'tool_completed') {
      const call = run.steps.find((one) => one.call === what.call);
      if (call) Object.assign(call, { output: what.output, result: what.result });
    } else if (what.event === 'steered') run.steps.push({ kind: 'aside', text: `You added: ${what.text}` });
    else if (what.event === 'action_requested') {
      run.steps.push({ kind: 'aside', request: what.request, text: what.action.text ?? `May I do this? ${what.action.effect}` });
      soon();
    } else if (what.event === 'action_settled') {
      const asked = run.steps.find((one) => one.request === what.request);
      const answer = { approved: 'Approved', denied: 'Denied', said: what.answer?.text }[what.answer?.answer];
      if (asked) asked.settled = answer ?? { expired: 'Nobody answered', withdrawn: 'No longer asked' }[what.state];
      view.questions = view.questions.filter((one) => one.request_id !== what.request);
    }
    else if (what.event === 'ended') {
      Object.assign(run, { isOver: true, outcome: what });
      if (view.running === id) view.running = null;
      soon();
    }
  }

  // Drawing: items in order, each with a node that is made once and changed where it changed.

  /** Entries of one run, or one entry of none, as steps. */
  function told(entries) {
    const steps = [];
    for (const entry of entries) {
      if (entry.speaker === 'tool') {
        const call = steps.find((one) => one.call && one.call === entry.detail?.answers);
        if (call) call.output = entry.text;
        else steps.push({ kind: 'tool', tool: 'tool', output: entry.text });
        continue;
      }
      if (entry.text.trim()) steps.push({ kind: 'text', text: entry.text, isDone: true });
      for (const call of entry.detail?.calls ?? []) steps.push({ kind: 'tool', call: call.id, tool: call.tool, given: call.arguments, output: null });
    }
    return steps;
  }

  /** Everything that is shown, in order: by the time it began, which ids and the ledger tell, and then by number. */
  function items() {
    const all = [];
    let time = 0, block = null;
    for (const entry of [...view.entries.values()].sort((one, other) => one.seq - other.seq)) {
      const run = entry.run_id, at = run && entry.speaker === 'user' ? made(run) : entry.at;
      time = Math.max(time, run ? made(run) : entry.at);
      if (entry.speaker === 'user' || entry.speaker === 'system') {
        block = null;
        all.push({ key: 'm' + entry.seq, kind: entry.speaker, text: entry.text, run, at, order: [time, entry.seq], sign: entry.text });
        continue;
      }
      if (!block || block.run !== run || !run) {
        const isFirst = run && !all.some((one) => one.run === run && one.entries);
        block = { key: isFirst ? 'r' + run : 'm' + entry.seq, kind: 'run', run, entries: [], order: [time, entry.seq], isOver: true };
        all.push(block);
      }
      block.entries.push(entry);
      Object.assign(block, { at, steps: told(block.entries), sign: 'told' + block.entries.length });
    }
    const said = new Set(all.flatMap((one) => (one.entries && !one.run ? one.entries.map((entry) => entry.text) : [])));
    const live = [...view.runs].filter(([id]) => !all.some((one) => one.run === id));
    for (const [id, run] of live) {
      for (const one of run.steps) if (run.isOver && one.call) one.result ??= 'cancelled';
      const question = run.isOver && all.find((one) => one.kind === 'user' && !one.run && one.at >= run.at);
      const order = question ? [question.order[0], question.order[1] + 0.5] : [run.at, 1];
      all.push({ ...run, key: 'r' + id, kind: 'run', order, sign: `live${run.version}${run.isOver}` });
    }
    for (const one of view.questions) {
      all.push({ ...one, kind_of: one.kind, key: 'q' + one.request_id, kind: 'question', at: one.asked_at, order: [Infinity, 0], sign: `${one.error}${one.isSent}` });
    }
    for (const { reply_id: id, text, at } of view.notices.values()) {
      if (!said.has(text)) all.push({ key: 'n' + id, kind: 'notice', text, at: at ?? made(id), order: [at ?? Infinity, Infinity], sign: text + at });
    }
    for (const one of view.pending) {
      // Its turn may have begun before we heard that it was taken.
      if (live.some(([, run]) => run.event === one.event)) one.isWaiting = false;
      const isNext = one.event && (one.isCommand || !one.isWaiting);
      all.push({ ...one, key: 'p' + one.key, kind: 'user', isPending: true, order: isNext ? [made(one.event), 0] : [Infinity, 2],
        sign: `${one.isWaiting}${one.error}${one.event}${view.running}` });
    }
    return all.sort((one, other) => one.order[0] - other.order[0] || one.order[1] - other.order[1] || 0);
  }

  let isDue = false;
  function draw() {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => { isDue = false; paint(); });
  }

  function paint() {
    if (!view.id) return;
    const isAtEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 90;
    const all = items();
    const keys = new Set(all.map((one) => one.key));
    for (const [key, shown] of view.nodes) {
      if (keys.has(key)) continue;
      shown.node.remove();
      view.nodes.delete(key);
    }
    let previous = null;
    for (const one of all) {
      let shown = view.nodes.get(one.key);
      if (!shown) view.nodes.set(one.key, shown = { node: node('article', { className: 'item' }), parts: [] });
      if (shown.sign !== one.sign) {
        if (one.kind === 'run') paintRun(shown, one);
        else if (one.kind === 'question') paintQuestion(shown, one);
        else paintMessage(shown, one);
        shown.sign = one.sign;
      }
      const next = previous ? previous.nextSibling : log.firstChild;
      if (next !== shown.node) log.insertBefore(shown.node, next);
      previous = shown.node;
    }
    $('welcome').hidden = !view.session || all.length > 0;
    if (!view.running) $('stop').disabled = false;
    $('stop').hidden = !view.running;
    if (isAtEnd || view.isJumping) scroll.scrollTop = scroll.scrollHeight;
    if (view.session) view.isJumping = false;
    noteEnd();
  }

  function clock(millis) {
    const time = new Date(millis);
    return node('time', { dateTime: time.toISOString() }, time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' }));
  }

  function paintMessage(shown, one) {
    const { node: item } = shown;
    if (one.kind === 'notice' || one.kind === 'system') {
      item.className = `item notice ${one.kind}`;
      item.replaceChildren(markdown(one.text), clock(one.at));
      return;
    }
    item.className = `item user ${one.isPending && one.isWaiting ? 'waiting' : ''} ${one.isCommand ? 'command' : ''}`;
    let foot = null;
    if (one.error) {
      const again = node('button', {}, 'Try again');
      again.onclick = () => post(view.pending.find((other) => other.key === one.key));
      foot = node('small', { className: 'alarm' }, `Not sent: ${one.error}. `, again);
    } else if (one.isPending && one.isWaiting && one.event && view.running) foot = node('small', {}, 'Waits for its turn');
    item.replaceChildren(node('div', {}, one.text), foot ?? '', clock(one.at));
    item.setAttribute('aria-label', 'You');
  }

  function paintQuestion(shown, one) {
    const { node: item } = shown;
    item.className = `item question ${one.kind_of}`;
    item.setAttribute('aria-label', 'A question to you');
    const isApproval = one.kind_of === 'approval';
    const head = isApproval ? node('p', {}, 'May I do this?') : markdown(one.text);
    const buttons = one.buttons.map((label) => {
      const button = node('button', { disabled: !!one.isSent }, label);
      button.onclick = () => decide(one.request_id, isApproval ? { decision: label.toLowerCase() } : { decision: 'answer', text: label });
      return button;
    });
    const hint = isApproval || buttons.length ? `Or write the answer below, or /deny ${one.code}.` : 'Write the answer below.';
    item.replaceChildren(head, isApproval ? node('pre', { tabIndex: 0 }, one.text) : '', node('div', { className: 'choices' }, ...buttons),
      node('small', { className: one.error ? 'alarm' : '' }, one.error ? `Not taken: ${one.error}.` : hint), clock(one.at));
  }

  async function decide(request, choice) {
    const one = view.questions.find((other) => other.request_id === request);
    if (!one || one.isSent) return;
    Object.assign(one, { isSent: true, error: undefined });
    draw();
    try {
      await api(`/questions/${request}`, 'POST', choice);
    } catch (error) {
      Object.assign(one, { isSent: false, error: error.message });
      draw();
    }
    soon();
  }

  function paintRun(shown, one) {
    const { node: item, parts } = shown;
    item.className = 'item agent';
    item.setAttribute('aria-label', 'Agent');
    item.setAttribute('aria-busy', String(!one.isOver));
    one.steps.forEach((step, at) => {
      const sign = JSON.stringify(step);
      if (parts[at]?.sign === sign) return;
      const made = paintStep(step, parts[at]?.node);
      if (parts[at]) parts[at].node.replaceWith(made);
      else if (parts.length) parts[parts.length - 1].node.after(made);
      else item.prepend(made);
      parts[at] = { node: made, sign };
    });
    for (const extra of parts.splice(one.steps.length)) extra.node.remove();
    for (const old of item.querySelectorAll(':scope > .tail, :scope > time')) old.remove();
    const last = one.steps[one.steps.length - 1];
    const isQuiet = !one.isOver && (!last || last.isDone || last.kind === 'tool' && last.result);
    const outcome = one.outcome?.outcome ?? (one.isOver && !one.entries ? 'cancelled' : null);
    const words = { failed: `This turn failed: ${one.outcome?.reason}`, cancelled: 'Stopped', interrupted: 'Interrupted' }[outcome];
    const tail = node('div', { className: 'tail' });
    if (isQuiet) tail.append(node('span', { className: 'think', role: 'img', 'aria-label': 'Thinking' }, node('i'), node('i'), node('i')));
    if (words && !(outcome === 'failed' && last?.isDone)) tail.append(node('p', { className: `foot ${outcome === 'failed' ? 'alarm' : ''}` }, words));
    if (tail.children.length) item.append(tail);
    item.append(clock(one.at));
  }

  function paintStep(step, before) {
    if (step.kind === 'text') return markdown(step.text);
    // While it is open, it stands below with its buttons.
    if (step.kind === 'aside') return node('p', { className: 'foot', hidden: !!step.request && !step.settled }, step.settled ? `${step.text} ${step.settled}.` : step.text);
    const isOpen = before?.open ?? false;
    const fold = (summary, ...texts) => node('details', { open: isOpen }, node('summary', {}, ...summary),
      ...texts.filter(Boolean).map((text) => node('pre', { tabIndex: 0 }, text)));
    if (step.kind === 'thought') return fold([node('b', {}, 'Thought')], step.text);
    const given = step.given === undefined ? '' : JSON.stringify(step.given);
    const values = Object.values(step.given ?? {});
    const state = { refused: 'refused', cancelled: 'stopped' }[step.result] ?? (step.output === undefined ? 'running…' : '');
    return fold([node('b', {}, step.tool), node('span', {}, values.length === 1 ? String(values[0]) : given),
      node('em', { className: step.result === 'refused' ? 'alarm' : '' }, state)], given, step.output);
  }

  function noteEnd() {
    $('latest').hidden = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 200;
  }

  // Saying something.

  const unique = () => crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}`;

  function send(words) {
    const text = words ?? input.value;
    if (!text.trim() || !view.id) return;
    if (words === undefined) {
      input.value = '';
      grow();
    }
    say('');
    const one = { key: unique(), text, at: Date.now(), after: latest(view), isWaiting: true, isCommand: /^\s*\/[a-z][\w-]*(\s|$)/i.test(text) };
    view.pending.push(one);
    view.isJumping = true;
    post(one);
  }

  async function post(one) {
    const mine = view;
    one.error = undefined;
    draw();
    try {
      const answer = await api(`/sessions/${mine.id}/messages`, 'POST', { text: one.text, id: one.key });
      one.event = answer.event_id;
      if (mine !== view) return;
      draw();
      if (answer.session_id && answer.session_id !== mine.id) {
        await loadSessions();
        return void open(answer.session_id);
      }
      if (mine.session && !mine.session.title && !one.isCommand) await rename(mine, one.text.trim().split('\n')[0].slice(0, 60)).catch(() => {});
      soon();
    } catch (error) {
      one.error = error.message;
      one.isLost = error.status === 0 || error.status === 503;
    }
    draw();
  }

  /** What could not be sent while the gateway was away; its id keeps it from being said twice. */
  function resend(mine) {
    for (const one of mine.pending) if (mine === view && one.isLost && one.error) post(one);
  }

  async function rename(mine, title) {
    const session = await api(`/sessions/${mine.id}`, 'PATCH', { title });
    const listed = sessions.find((one) => one.id === mine.id);
    if (listed) Object.assign(listed, session);
    if (mine.session) mine.session.title = session.title;
    showSessions();
  }

  function grow() {
    input.style.height = 'auto';
    input.style.height = `${input.scrollHeight}px`;
    $('send').disabled = !input.value.trim();
  }

  function fold(isOpen = false) {
    document.body.classList.toggle('open', isOpen);
    $('veil').hidden = !isOpen;
    $('menu').setAttribute('aria-expanded', String(isOpen));
    if (isOpen) $('fresh').focus();
  }

  on('input', 'input', grow);
  on('input', 'keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  });
  on('form', 'submit', (event) => { event.preventDefault(); send(); input.focus(); });
  on('stop', 'click', () => {
    $('stop').disabled = true;
    api(`/sessions/${view.id}/messages`, 'POST', { text: '/stop', id: unique() }).then(soon).catch((error) => {
      $('stop').disabled = false;
      complain('It could not be stopped')(error);
    });
  });
  for (const button of document.querySelectorAll('[data-say]')) button.addEventListener('click', () => send(button.dataset.say));
  on('fresh', 'click', () => { fold(); create().catch(complain('No conversation could be begun')); });
  on('menu', 'click', () => fold(!document.body.classList.contains('open')));
  on('veil', 'click', () => fold());
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && document.body.classList.contains('open')) { fold(); $('menu').focus(); }
  });
  on('title', 'click', () => {
    $('rename').value = view.session?.title ?? '';
    $('title').hidden = true;
    $('rename').hidden = false;
    $('rename').select();
  });
  function renamed(isMeant) {
    if ($('rename').hidden) return;
    const title = $('rename').value.trim();
    $('rename').hidden = true;
    $('title').hidden = false;
    if (isMeant && title && title !== view.session?.title) rename(view, title).catch(complain('It could not be renamed'));
  }
  on('rename', 'blur', () => renamed(true));
  on('rename', 'keydown', (event) => {
    if (event.key === 'Enter') { renamed(true); input.focus(); } else if (event.key === 'Escape') { renamed(false); $('title').focus(); }
  });
  on('more', 'click', async () => {
    const page = await api(`/sessions?limit=50&after=${following}`).catch(complain('No more could be loaded'));
    if (!page) return;
    sessions.push(...page.data);
    following = page.next;
    showSessions();
  });
  on('earlier', 'click', async () => {
    const mine = view, end = mine.first, height = scroll.scrollHeight;
    const from = Math.max(0, end - 100);
    const entries = await pages(`/sessions/${mine.id}`, from, end).catch(complain('No earlier messages could be loaded'));
    if (!entries || mine !== view) return;
    for (const entry of entries) mine.entries.set(entry.seq, entry);
    mine.first = from;
    $('earlier').hidden = !from;
    paint();
    scroll.scrollTop += scroll.scrollHeight - height;
  });
  on('latest', 'click', () => { scroll.scrollTop = scroll.scrollHeight; });
  on('scroll', 'scroll', noteEnd, { passive: true });

  async function start() {
    api('/status').then((status) => { $('about').textContent = `${status.profile} · ${status.model} · ${status.version}`; }).catch(() => {});
    await loadSessions();
    const wanted = location.hash.slice(1);
    const first = sessions.find((one) => one.id === wanted) ?? sessions.find((one) => one.state === 'active');
    if (first) open(first.id);
    else await create();
    input.focus();
  }

  grow();
  connected(true);
  (function boot() {
    start().catch((error) => {
      complain('The conversations cannot be loaded')(error);
      if (error.status !== 401) { connected(false); setTimeout(boot, 3000); }
    });
  })();
})();
