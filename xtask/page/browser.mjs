// A browser at the page, as a person has one: it listens to everything that goes wrong there, asks, and watches the
// answer grow. What needs it is written in the files beside it; `page.rs` and `real_model.rs` of xtask start them.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const playwright = createRequire(process.cwd() + '/')('playwright-core');

/** As long as nothing at the page may take, and no answer: a wait that ends is a fault, not a slow machine. */
const PATIENCE = 30_000, LONG_PATIENCE = 120_000;

/** Opens a browser, hands it over, and closes it whatever happens. */
export async function withBrowser(executablePath, act) {
  // Whoever runs this may be root or in a container, where the sandbox cannot be set up; the only page it sees is ours.
  const browser = await playwright.chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    await act(browser);
  } finally {
    await browser.close();
  }
}

/** A page in a window of this kind, with what went wrong in it and whom it asked. */
export async function look(browser, settings) {
  const context = await browser.newContext(settings);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const faults = [], asked = new Set();
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) faults.push(message.text()); });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => { if (!request.url().startsWith('data:')) asked.add(new URL(request.url()).origin); });
  return { page, faults, asked };
}

/** Comes in by the one-time link. */
export async function enter(page, link) {
  await page.goto(link);
  assert.equal(new URL(page.url()).pathname, '/', 'the link leads to the page');
  await page.locator('#sessions [aria-current=true]').waitFor();
}

/** Says something and waits for the whole answer; gives it, everything that stood there before it, and the event's id. */
export async function ask(page, text) {
  const before = await page.locator('.agent').count();
  await page.evaluate((before) => {
    const stages = window.stages = [];
    const note = () => {
      const stage = document.querySelectorAll('.agent')[before]?.textContent;
      if (stage && stage !== stages.at(-1)) stages.push(stage);
    };
    window.watcher?.disconnect();
    window.watcher = new MutationObserver(note);
    window.watcher.observe(document.getElementById('log'), { subtree: true, childList: true, characterData: true });
  }, before);
  const accepted = page.waitForResponse((answer) => answer.request().method() === 'POST' && answer.url().endsWith('/messages'));
  await page.fill('#input', text);
  await page.keyboard.press('Enter');
  const { event_id: event } = await (await accepted).json();
  const isAnswered = (before) => {
    const answer = document.querySelectorAll('.agent')[before];
    return answer?.querySelector('.md') && answer.getAttribute('aria-busy') === 'false' && document.getElementById('stop').hidden
      && answer.previousElementSibling?.matches('.user');
  };
  await page.waitForFunction(isAnswered, before, { timeout: LONG_PATIENCE });
  const answer = await page.locator('.agent').nth(before).locator('.md').last().innerText();
  return { event, answer, stages: await page.evaluate(() => window.stages) };
}

/** Holds back what the gateway answers to the next question at this address, as a slow line does. */
export async function holdBack(page, address) {
  let release, note;
  const released = new Promise((resolve) => { release = resolve; });
  const asked = new Promise((resolve) => { note = resolve; });
  await page.route(address, async (route) => {
    const response = await route.fetch();
    note();
    await released;
    await route.fulfill({ response });
  }, { times: 1 });
  return { asked, release };
}

/** What was said in the conversation. A command is no part of it, only what came of it. */
export const shown = (page) => page.locator('.user:not(.command) > div, .agent .md, .notice .md').allInnerTexts();

/** Fails if anything must be scrolled sideways. */
export async function assertFits(page) {
  const widths = await page.evaluate(() => ({
    window: innerWidth,
    document: document.documentElement.scrollWidth,
    conversation: document.getElementById('scroll').scrollWidth,
  }));
  assert.ok(widths.document <= widths.window && widths.conversation <= widths.window, `nothing sticks out: ${JSON.stringify(widths)}`);
}
