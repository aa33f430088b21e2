-- The gate for @MACHINE@: partition @PARTITION@, license @LICENSE@.
--
-- It makes every job in the partition request the gate's license and exactly as many nodes as its
-- box has, and it rejects requirements that the daemon does not support. job_submit.lua calls the
-- gate at its end, before it returns:
--
--   local pavior = dofile("/etc/slurm/@MODULE@")
--   slurm_job_submit = pavior.submit(slurm_job_submit)
--   slurm_job_modify = pavior.modify(slurm_job_modify)
--
-- Both functions take the site's own function, or nil, and call it first, so that the gate sees the
-- job as Slurm will.

local PARTITIONS = { @PARTITIONS@ }
local MACHINE = "@MACHINE@"
local SIDES = { @SIDES@ }
local LICENSE = "@LICENSE@"
local CHECKSUM = "@CHECKSUM@"

-- The users who may change waiting jobs: root and SlurmUser, which runs this script.
local operators = { [0] = true }
local status = io.open("/proc/self/status")
if status ~= nil then
  local effective = string.match(status:read("*a"), "\nUid:%s*%d+%s+(%d+)")
  status:close()
  if effective ~= nil then operators[tonumber(effective)] = true end
end

local own = {}
for _, name in ipairs(PARTITIONS) do own[name] = true end
local SHOWN = table.concat(PARTITIONS, ", ")

-- The partitions of all machines whose gates are loaded. Other partitions reject shapes.
pavior_partitions = pavior_partitions or {}
for _, name in ipairs(PARTITIONS) do pavior_partitions[#pavior_partitions + 1] = name end

local function log_user(text)
  -- The text may contain a percent sign that the user wrote.
  slurm.log_user("%s", "pavior: " .. text)
end

local function reject(text)
  log_user(text)
  return slurm.ERROR
end

-- Returns true if a field is absent or has one of Slurm's 16-bit or 32-bit values for "not set".
local function unset(value)
  return value == nil or value == 65534 or value == 65535
    or value == 4294967294 or value == 4294967295
end

-- Returns true if the text contains control characters (ASCII, or U+0080 to U+009F in UTF-8), which
-- could break lines or control terminals.
local function has_controls(text)
  text = text or ""
  return string.find(text, "[\1-\31\127]") ~= nil or string.find(text, "\194[\128-\159]") ~= nil
end

local CONTROLS = "a comment cannot contain line breaks or other control characters"

-- Returns a table with three booleans. `ours` is true if the job names one of this machine's
-- partitions, `several` if it names several partitions, `gated` if any gate handles one of them.
local function targets(partition, parts)
  local names = {}
  for name in string.gmatch(partition or "", "[^,]+") do names[#names + 1] = name end
  if #names == 0 then
    for name, part in pairs(parts) do
      if part.flag_default ~= 0 then names[1] = name end
    end
  end
  local found = { ours = false, several = #names > 1, gated = false }
  for _, name in ipairs(names) do
    if own[name] then found.ours = true end
    for _, other in ipairs(pavior_partitions) do
      if name == other then found.gated = true end
    end
  end
  return found
end

-- Returns a copy of the sides in descending order.
local function descending(list)
  local copy = {}
  for i, side in ipairs(list) do copy[i] = side end
  table.sort(copy, function(a, b) return a > b end)
  return copy
end

local function fits(sides)
  local shape, machine = descending(sides), descending(SIDES)
  for i = 1, #shape do
    if shape[i] > machine[i] then return false end
  end
  return true
end

-- Returns the size of the smallest box with at least `count` nodes.
local function box_for(count)
  local a_most, b_most, c_most = SIDES[1], SIDES[2] or 1, SIDES[3] or 1
  local best = nil
  for a = 1, a_most do
    for b = 1, b_most do
      local c = math.max(1, math.ceil(count / (a * b)))
      if c <= c_most then
        local volume = a * b * c
        if best == nil or volume < best then best = volume end
      end
    end
  end
  return best
end

-- Finds the next word `shape` in a comment at or after a position. Returns the text that follows it
-- and the position of that text, or nil. The daemon uses the same grammar.
local function next_shape(comment, from)
  while true do
    local first, last = string.find(comment, "[Ss][Hh][Aa][Pp][Ee]", from)
    if first == nil then return nil end
    from = last + 1
    local before = string.sub(comment, first - 1, first - 1)
    local behind = string.sub(comment, last + 1)
    local letter = string.find(string.gsub(behind, "^[Ss]", ""), "^[A-Za-z]")
    if not letter and not string.find(before, "^[0-9A-Za-z_]") then return behind, from end
  end
end

-- Returns the text of the sides that follow the word. Returns nil and a fault if it is invalid, or
-- two nils if the word does not introduce a shape.
local function sides_text(behind)
  local rest = string.gsub(behind, "^[Ss]", "")
  local between, text = string.match(rest, "^([^0-9A-Za-z,;]*)(.*)$")
  if rest ~= behind or not string.find(between, "^ *= *$") then
    if string.find(text, "^[0-9]") or string.find(between, "=", 1, true) then
      return nil, "specify the shape as shape=4x4"
    end
    return nil, nil
  end
  local sides, tail = string.match(text, "^([^ ,;]*)(.*)$")
  if string.find(tail, "^ *[xX*] *[0-9]") then
    return nil, "write a shape without spaces, such as 4x4"
  end
  return sides, nil
end

-- Returns the sides of the shape in a comment, nil and a fault, or two nils if it has no shape.
local function shape_of(comment)
  local found, from, behind = nil, 1, nil
  while true do
    behind, from = next_shape(comment or "", from)
    if behind == nil then break end
    local text, fault = sides_text(behind)
    if fault ~= nil then return nil, fault end
    if text ~= nil and found ~= nil then return nil, "the comment contains two shapes" end
    found = text or found
  end
  if found == nil then return nil, nil end
  local sides = {}
  for side in string.gmatch(string.gsub(found, "X", "x") .. "x", "([^x]*)x") do
    if not string.find(side, "^[0-9]+$") then
      return nil, "'" .. found .. "' is not a valid shape; use one such as 4x4"
    end
    if #side > 5 or tonumber(side) < 1 or tonumber(side) > 65535 then
      return nil, "each side of " .. found .. " must be from 1 to 65535"
    end
    sides[#sides + 1] = tonumber(side)
  end
  if #sides ~= #SIDES then
    return nil, found .. " has " .. #sides .. " sides, but " .. MACHINE .. " has " .. #SIDES .. " axes"
  end
  return sides, nil
end

-- The fields and options for requirements that Slurm checks but the daemon cannot see. For numbers,
-- the third value is the greatest that every node satisfies.
local TEXTS = {
  { "prefer", "--prefer" },
  { "batch_features", "--batch" },
  { "tres_per_job", "--gpus" },
  { "tres_per_socket", "--gpus-per-socket" },
  { "mem_per_tres", "--mem-per-gpu" },
  { "cpus_per_tres", "--cpus-per-gpu" },
}
local NUMBERS = {
  { "min_mem_per_cpu", "--mem-per-cpu", 0 },
  { "sockets_per_board", "--sockets-per-board", 1 },
  { "boards_per_node", "--boards-per-node", 1 },
  { "ntasks_per_socket", "--ntasks-per-socket", 0 },
  { "ntasks_per_tres", "--ntasks-per-gpu", 0 },
  { "core_spec", "--core-spec", 0 },
  { "thread_spec", "--thread-spec", 0 },
}
-- Requirements on where nodes are located, each with the smallest value that has an effect.
local PLACES = {
  { "contiguous", "--contiguous", 1 },
  { "req_switch", "--switches", 1 },
  { "segment_size", "--segment", 1 },
  { "shared", "--exclusive=topo", 4 },
}

-- Describes the first unsupported requirement in a job or in a change to a job. Returns nil if all
-- requirements are supported.
local function unsupported(job)
  local instead = "; specify resources per node: --gres, --gpus-per-node, --mem, --mincpus, --constraint"
  for _, field in ipairs(TEXTS) do
    if (job[field[1]] or "") ~= "" then return field[2] .. " is not supported" .. instead end
  end
  for _, field in ipairs(NUMBERS) do
    local value = job[field[1]]
    if not unset(value) and value > field[3] then
      return field[2] .. " is not supported" .. instead
    end
  end
  for _, field in ipairs(PLACES) do
    if not unset(job[field[1]]) and job[field[1]] >= field[3] then
      return "the shape determines the arrangement of the nodes; omit " .. field[2]
    end
  end
  -- Since 23.11, this field also contains --cpus-per-task.
  local task = job.tres_per_task or ""
  if task ~= "" and not string.find(task, "^cpu[=:][0-9]+$") then
    return "--gpus-per-task and --tres-per-task are not supported" .. instead
  end
  if string.find(job.features or "", "[^0-9A-Za-z_.:=/+%%@&|(),-]") then
    return "a constraint may contain only features, &, |, commas and parentheses, "
      .. "because it applies to every node in a box"
  end
  if string.find(job.exc_nodes or "", "[^0-9A-Za-z_.,%[%]-]") then
    return "--exclude must be a list of nodes, such as n[00-03,07]"
  end
  return nil
end

-- Returns the number of nodes to give to a job, or nil and a fault.
local function nodes_of(job, sides)
  local least = not unset(job.min_nodes) and job.min_nodes > 0 and job.min_nodes or nil
  local most = not unset(job.max_nodes) and job.max_nodes > 0 and job.max_nodes or nil
  if sides then
    local nodes = 1
    for _, side in ipairs(sides) do nodes = nodes * side end
    if least and least > 1 and least ~= nodes or most and most > 1 and most ~= nodes then
      return nil, "the shape has " .. nodes .. " nodes, but -N asks for a different number; omit -N"
    end
    return nodes
  end
  if not least and not unset(job.num_tasks) and job.num_tasks > 1 then
    return nil, "specify the number of nodes (-N 4) or a shape (--comment=shape=2x2)"
  end
  local count = math.max(least or 1, most or 1)
  local nodes = box_for(count)
  if nodes == nil then return nil, MACHINE .. " has fewer than " .. count .. " nodes" end
  if nodes ~= count then
    if most and most > (least or 1) then
      -- The user may have listed node counts, such as 3,5. Slurm would reject any other count.
      return nil, "no box has " .. count .. " nodes; the next larger box has " .. nodes .. ", so use -N " .. nodes
    end
    log_user("rounding " .. count .. " nodes up to a box of " .. nodes .. " nodes")
  end
  return nodes
end

local function licenses_of(job)
  if string.find(job.licenses or "", "[^%w_.@:=,;/-]") then
    return nil, "write licenses as NAME or NAME:COUNT, separated by commas"
  end
  for name in string.gmatch(job.licenses or "", "[^,;:@=]+") do
    if name == LICENSE then return nil, "the license " .. LICENSE .. " is reserved for the gate" end
  end
  local gate = LICENSE .. ":1"
  return (job.licenses or "") == "" and gate or job.licenses .. "," .. gate
end

-- Checks a submitted job and gates it.
local function submit(job, parts)
  local target = targets(job.partition, parts)
  local sides, fault = shape_of(job.comment)
  if not target.ours then
    if (sides or fault) and not target.gated then
      return reject("shapes work only in partition " .. table.concat(pavior_partitions, ", "))
    end
    return slurm.SUCCESS
  end
  if has_controls(job.comment) then return reject(CONTROLS) end
  if target.several then
    return reject("a job for partition " .. SHOWN .. " cannot name other partitions")
  end
  if not unset(job.het_job_offset) then
    return reject("heterogeneous jobs are not supported in partition " .. SHOWN)
  end
  if not fault and sides and not fits(sides) then
    fault = table.concat(sides, "x") .. " does not fit " .. MACHINE .. " in any orientation"
  end
  if not fault and (job.req_nodes or "") ~= "" then
    fault = "nodes are chosen automatically; omit --nodelist and --nodefile"
  end
  fault = fault or unsupported(job)
  if fault then return reject(fault) end
  local nodes, licenses
  nodes, fault = nodes_of(job, sides)
  if not fault then licenses, fault = licenses_of(job) end
  if fault then return reject(fault) end
  job.min_nodes = nodes
  job.max_nodes = nodes
  job.licenses = licenses
  return slurm.SUCCESS
end

-- Checks a change to a job.
local function modify(change, job, uid)
  local is_ours = own[job.partition or ""]
  for name in string.gmatch((job.partition or "") .. "," .. (change.partition or ""), "[^,]+") do
    is_ours = is_ours or own[name]
  end
  if not is_ours then return slurm.SUCCESS end
  if has_controls(change.comment) then return reject(CONTROLS) end
  if operators[uid] then return slurm.SUCCESS end
  if change.partition ~= nil or change.comment ~= nil or change.licenses ~= nil
    or change.req_nodes ~= nil or not unset(change.min_nodes) or not unset(change.max_nodes)
    or not unset(change.min_cpus) then
    return reject(
      "comment, licenses, nodes, CPUs and partition cannot be changed; resubmit the job")
  end
  local fault = unsupported(change)
  if fault then return reject(fault) end
  -- Users may hold and release a job but not change its priority in any other way.
  if change.priority ~= nil and change.priority ~= 4294967294 and change.priority ~= 0
    and job.priority ~= 0 then
    return reject("the job is waiting for a free box; its priority cannot be changed")
  end
  return slurm.SUCCESS
end

-- Returns true for the test job that pavior slurm check submits, which is never accepted.
local function is_test(job)
  return string.find(job.comment or "", "pavior-check " .. LICENSE .. "\n", 1, true) ~= nil
end

-- Combines a function from job_submit.lua with the gate. If the script fails, some Slurm releases
-- accept the job unchanged, so jobs for this machine are rejected in that case.
local function chain(inner, gate, is_ours)
  return function(...)
    if inner ~= nil then
      local fine, verdict = pcall(inner, ...)
      if not fine then
        if not is_ours(...) then error(verdict, 0) end
        slurm.log_error("%s", "pavior: job_submit.lua failed: " .. tostring(verdict))
        return reject("the site's job_submit.lua failed; please contact your administrator")
      end
      if type(verdict) == "number" and verdict ~= slurm.SUCCESS then return verdict end
    end
    local fine, verdict = pcall(gate, ...)
    if fine then return verdict end
    slurm.log_error("%s", "pavior: the gate failed: " .. tostring(verdict))
    return reject("the gate failed; please contact your administrator")
  end
end

local guarded = false
local module = { shape_of = shape_of }

function module.submit(inner)
  local function is_ours(job, parts) return targets(job.partition, parts).ours end
  local guard = chain(inner, submit, is_ours)
  return function(job, parts, uid)
    if is_test(job) and is_ours(job, parts) then
      local changes = guarded and "guarded" or "open"
      return reject("gate " .. LICENSE .. " " .. CHECKSUM .. ", changes " .. changes)
    end
    return guard(job, parts, uid)
  end
end

function module.modify(inner)
  guarded = true
  local function is_ours(change, job) return own[job.partition or ""] end
  return chain(inner, function(change, job, _, uid) return modify(change, job, uid) end, is_ours)
end

return module
