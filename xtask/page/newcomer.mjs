// The first minutes of a newcomer at the page: in by the printed link, a question, a tool at work, the list, a reload, a
// phone. Prints the id of the question's event.
//
//   node newcomer.mjs CHROMIUM LINK

import assert from 'node:assert/strict';
import { ask, assertFits, enter, holdBack, look, shown, withBrowser } from './browser.mjs';

const [chromium, link] = process.argv.slice(2);
const QUESTION = 'What are you, and who am I talking to?';
const COMMAND = 'run: printf one; sleep 1; printf two';

await withBrowser(chromium, async (browser) => {
  const { page, faults, asked } = await look(browser, { viewport: { width: 1280, height: 800 } });
  await enter(page, link);
  await page.locator('#welcome').waitFor();
  const spent = await (await browser.newContext()).newPage();
  assert.equal((await spent.goto(link)).status(), 401, 'the link works once');
  await page.screenshot({ path: 'welcome.png' });

  const { event, answer } = await ask(page, QUESTION);
  assert.match(answer, /demo model/, 'the demo model says what it is');
  // What the gateway said before a turn began may come while it runs.
  const late = await holdBack(page, /\/api\/sessions\/[^/?]+$/);
  await page.fill('#input', '/whoami');
  await page.keyboard.press('Enter');
  await late.asked;
  const telling = ask(page, COMMAND);
  await page.locator('#stop').waitFor();
  late.release();
  const { answer: told, stages } = await telling;
  assert.ok(!stages.some((stage) => /stopped/i.test(stage)), `a turn at work is not stopped: ${stages.join(' | ')}`);
  assert.ok(stages.some((stage) => stage.includes('running…')), `the tool is seen at work, but there was only ${stages.join(' | ')}`);
  assert.match(told, /onetwo/, 'the tool ran, and its result is quoted');

  // It is called by its question.
  const listed = page.locator('#sessions [aria-current=true]', { hasText: QUESTION.slice(0, 20) });
  await listed.waitFor();
  assert.equal(await page.locator('#sessions li').count(), 1, 'one conversation is listed');
  await page.screenshot({ path: 'wide.png' });

  const before = await shown(page);
  assert.ok(before.some((text) => text.includes(QUESTION)), 'the question stands there');
  await page.reload();
  await page.locator('.agent').nth(1).locator('.md').first().waitFor();
  assert.deepEqual(await shown(page), before, 'a reload shows the same');
  await listed.waitFor();

  const storageState = await page.context().storageState();
  const phone = await look(browser, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, storageState });
  await phone.page.goto(page.url());
  await phone.page.locator('.agent').nth(1).locator('.md').first().waitFor();
  assert.equal(await phone.page.locator('#fresh').isVisible(), false, 'the list is out of the way on a phone');
  await assertFits(phone.page);
  const { answer: onPhone } = await ask(phone.page, 'And on a phone?');
  assert.match(onPhone, /demo model/, 'a phone is answered, too');
  await assertFits(phone.page);
  await phone.page.screenshot({ path: 'phone.png' });
  await phone.page.tap('#menu');
  await phone.page.locator('#fresh').waitFor();
  await assertFits(phone.page);
  await phone.page.waitForFunction(() => document.getElementById('side').getAnimations().length === 0);
  await phone.page.screenshot({ path: 'phone-list.png' });
  await page.getByText('And on a phone?', { exact: true }).first().waitFor();

  assert.deepEqual([...faults, ...phone.faults], [], 'nothing went wrong in the page');
  const { origin } = new URL(link);
  assert.deepEqual([...new Set([...asked, ...phone.asked])], [origin], 'nobody else was asked for anything');
  console.log(`event ${event}`);
});
