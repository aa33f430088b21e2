-- Written by `pavior slurm install` for @MACHINE@, partition @PARTITION@. Put it beside slurm.conf,
-- with JobSubmitPlugins=lua in it. It gives every job of the partition the licence that it waits for,
-- and exactly the nodes of its box.

local PARTITION = "@PARTITION@"
local MACHINE = "@MACHINE@"
local SIDES = { @SIDES@ }
local LICENCE = "@LICENCE@:1"
local NO_VAL = 4294967294

local function refuse(text)
  slurm.log_user("pavior: " .. text)
  return slurm.ERROR
end

local function unset(value)
  return value == nil or value == NO_VAL or value == 65534 or value == 4294967295
end

-- Whether a text has characters that end lines or that terminals obey: the control characters of
-- ASCII, and those of UTF-8 from U+0080 to U+009F.
local function has_controls(text)
  text = text or ""
  return string.find(text, "[\1-\31\127]") ~= nil or string.find(text, "\194[\128-\159]") ~= nil
end

local CONTROLS = "a comment cannot have line breaks or other control characters"

-- Whether the job is one of this partition, and whether of others too.
local function concerns(partition, parts)
  if partition == nil or partition == "" then
    for name, part in pairs(parts) do
      if name == PARTITION then
        return part.flag_default ~= 0, false
      end
    end
    return false, false
  end
  local own, others = false, false
  for name in string.gmatch(partition, "[^,]+") do
    if name == PARTITION then own = true else others = true end
  end
  return own, others
end

-- The sides, in the order in which both are compared: descending.
local function descending(list)
  local copy = {}
  for i, side in ipairs(list) do copy[i] = side end
  table.sort(copy, function(a, b) return a > b end)
  return copy
end

local function fits(sides)
  local own, machine = descending(sides), descending(SIDES)
  for i = 1, #own do
    if own[i] > machine[i] then return false end
  end
  return true
end

-- The nodes of the smallest box for a count.
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

-- The shape of a comment: its sides, or nil and what is wrong; nil and nil if there is none.
local function shape_of(comment)
  local found = nil
  for word in string.gmatch(comment or "", "[^ ,;]+") do
    local text = string.match(word, "^shape=(.*)$")
    if text ~= nil then
      if found ~= nil then return nil, "the comment names two shapes" end
      found = text
    end
  end
  if found == nil then return nil, nil end
  if not string.match(found, "^%d+[x%d]*$") or string.match(found, "xx") or string.match(found, "x$") then
    return nil, "'" .. found .. "' is no shape; write one like 4x4"
  end
  local sides = {}
  for side in string.gmatch(found, "%d+") do
    if #side > 5 or tonumber(side) < 1 then
      return nil, "a side of " .. found .. " is not 1 to 65535"
    end
    sides[#sides + 1] = tonumber(side)
  end
  if #sides ~= #SIDES then
    return nil, found .. " has " .. #sides .. " sides, but " .. MACHINE .. " has " .. #SIDES .. " axes"
  end
  if not fits(sides) then
    return nil, found .. " does not fit " .. MACHINE .. ", turned or not"
  end
  return sides, nil
end

function slurm_job_submit(job, parts, uid)
  local own, others = concerns(job.partition, parts)
  local sides, fault = shape_of(job.comment)
  if not own then
    if (sides or fault) and PARTITION then
      return refuse("shapes are for partition " .. PARTITION)
    end
    return slurm.SUCCESS
  end
  if has_controls(job.comment) then return refuse(CONTROLS) end
  if others then
    return refuse("jobs of partition " .. PARTITION .. " cannot name other partitions as well")
  end
  if not unset(job.het_job_offset) then
    return refuse("heterogeneous jobs cannot be placed in partition " .. PARTITION)
  end
  if fault then return refuse(fault) end
  if (job.req_nodes or "") ~= "" or (job.exc_nodes or "") ~= "" then
    return refuse("nodes are chosen for you; leave --nodelist and --exclude out")
  end
  if string.find(job.licenses or "", "[^%w_.@:=,;/-]") then
    return refuse("write licences as NAME or NAME:COUNT, with commas between them")
  end
  for name in string.gmatch(job.licenses or "", "[^,;]+") do
    if string.match(name, "^@LICENCE@$") or string.match(name, "^@LICENCE@[:@=]") then
      return refuse("the licence @LICENCE@ is not yours to ask for")
    end
  end
  local nodes
  if sides then
    nodes = 1
    for _, side in ipairs(sides) do nodes = nodes * side end
    if not unset(job.min_nodes) and job.min_nodes > 1 and job.min_nodes ~= nodes
      or not unset(job.max_nodes) and job.max_nodes ~= 0 and job.max_nodes ~= nodes and job.max_nodes > 1 then
      return refuse("the shape has " .. nodes .. " nodes, but -N says otherwise; leave -N out")
    end
  else
    local count = 1
    if not unset(job.min_nodes) and job.min_nodes > 0 then
      count = job.min_nodes
    elseif not unset(job.num_tasks) and job.num_tasks > 1 then
      return refuse("say how many nodes: -N 4, or --comment=shape=2x2")
    end
    if not unset(job.max_nodes) and job.max_nodes ~= 0 and job.max_nodes > count then
      count = job.max_nodes
    end
    nodes = box_for(count)
    if nodes == nil then
      return refuse(count .. " nodes are more than " .. MACHINE .. " has")
    end
    if nodes ~= count then
      slurm.log_user("pavior: " .. count .. " nodes become a box of " .. nodes)
    end
  end
  job.min_nodes = nodes
  job.max_nodes = nodes
  if (job.licenses or "") == "" then
    job.licenses = LICENCE
  else
    job.licenses = job.licenses .. "," .. LICENCE
  end
  return slurm.SUCCESS
end

function slurm_job_modify(change, job, parts, uid)
  local own = false
  for name in string.gmatch(job.partition or "", "[^,]+") do
    if name == PARTITION then own = true end
  end
  if change.partition ~= nil then
    for name in string.gmatch(change.partition, "[^,]+") do
      if name == PARTITION then own = true end
    end
  end
  if not own then return slurm.SUCCESS end
  if has_controls(change.comment) then return refuse(CONTROLS) end
  if uid == 0 then return slurm.SUCCESS end
  if change.partition ~= nil or change.comment ~= nil or change.licenses ~= nil
    or change.req_nodes ~= nil or change.exc_nodes ~= nil
    or not unset(change.min_nodes) or not unset(change.max_nodes) then
    return refuse("comment, licences, nodes and partition cannot be changed; submit the job anew")
  end
  -- A user may hold a job and release it again; nothing else sets a priority.
  if change.priority ~= nil and change.priority ~= NO_VAL and change.priority ~= 0 then
    if job.priority ~= 0 then
      return refuse("the job waits for its box, and is started when there is one")
    end
  end
  return slurm.SUCCESS
end

return slurm.SUCCESS
